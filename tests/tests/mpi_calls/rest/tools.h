/* The interface of tools. */

static char buffer[1 << 20], described[1 << 16];

static void control_variables(void) {
    int n, verbosity, bind, scope, length2, count, done = 0;
    MPI_Datatype type;
    MPI_T_enum values, any = MPI_T_ENUM_NULL;
    MPI_T_cvar_handle handle;
    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n && !(done && any != MPI_T_ENUM_NULL); i++) {
        length = sizeof text, length2 = sizeof described, values = MPI_T_ENUM_NULL;
        if (MPI_T_cvar_get_info(i, text, &length, &verbosity, &type, &values, described,
                                &length2, &bind, &scope))
            continue;
        if (values != MPI_T_ENUM_NULL) any = values;
        if (done || type != MPI_INT || bind != MPI_T_BIND_NO_OBJECT) continue;
        MPI_T_cvar_get_index(text, &number);
        if (MPI_T_cvar_handle_alloc(i, NULL, &handle, &count)) continue;
        MPI_T_cvar_read(handle, buffer);
        MPI_T_cvar_write(handle, buffer);
        MPI_T_cvar_handle_free(&handle);
        done = 1;
    }
    if (any == MPI_T_ENUM_NULL) return;
    length = sizeof text;
    MPI_T_enum_get_info(any, &n, text, &length);
    length = sizeof text;
    MPI_T_enum_get_item(any, 0, &number, text, &length);
}

static void performance_variables(void) {
    int n, verbosity, class, bind, readonly, continuous, atomic, length2, count;
    MPI_Datatype type;
    MPI_T_enum values;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_T_pvar_get_num(&n);
    MPI_T_pvar_session_create(&session);
    for (int i = 0; i < n; i++) {
        length = sizeof text, length2 = sizeof described;
        if (MPI_T_pvar_get_info(i, text, &length, &verbosity, &class, &type, &values, described,
                                &length2, &bind, &readonly, &continuous, &atomic))
            continue;
        if (bind != MPI_T_BIND_NO_OBJECT) continue;
        if (MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count)) continue;
        MPI_T_pvar_read(session, handle, buffer);
        MPI_T_pvar_readreset(session, handle, buffer);
        MPI_T_pvar_write(session, handle, buffer);
        MPI_T_pvar_handle_free(session, &handle);
        break;
    }
    MPI_T_pvar_get_index("none", MPI_T_PVAR_CLASS_COUNTER, &number);
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    MPI_T_pvar_stop(session, MPI_T_PVAR_ALL_HANDLES);
    MPI_T_pvar_reset(session, MPI_T_PVAR_ALL_HANDLES);
    MPI_T_pvar_session_free(&session);
}

static void categories(void) {
    int n, cvars, pvars, inner, length2, indices[1];
    MPI_T_category_get_num(&n);
    MPI_T_category_changed(&number);
    length = sizeof text, length2 = sizeof described;
    MPI_T_category_get_info(0, text, &length, described, &length2, &cvars, &pvars, &inner);
    MPI_T_category_get_index(text, &number);
    MPI_T_category_get_categories(0, 1, indices);
    MPI_T_category_get_cvars(0, 1, indices);
    MPI_T_category_get_pvars(0, 1, indices);
#if MPI_VERSION >= 4
    MPI_T_category_get_num_events(0, &number);
    MPI_T_category_get_events(0, 1, indices);
#endif
}

#if MPI_VERSION >= 4
/* None of these MPIs has an event: what is asked of one is refused, where it does not crash. */
static void events(void) {
    int n, length2, elements = 0, verbosity, bind;
    MPI_T_source_order order;
    MPI_Count ticks, most;
    MPI_Info used;
    MPI_T_enum values;
    MPI_T_event_registration registration = {0};
    MPI_T_event_get_num(&n);
    MPI_T_event_get_index("none", &number);
    length = sizeof text, length2 = sizeof described;
    MPI_T_event_get_info(0, text, &length, &verbosity, NULL, NULL, &elements, &values, &used,
                         described, &length2, &bind);
    MPI_T_source_get_num(&n);
    length = sizeof text, length2 = sizeof described;
    MPI_T_source_get_info(0, text, &length, described, &length2, &order, &ticks, &most, &used);
    MPI_T_source_get_timestamp(0, &ticks);
    MPI_T_event_handle_alloc(0, NULL, info, &registration);
}
#endif

static void tools(void) {
    MPI_T_init_thread(MPI_THREAD_SINGLE, &number);
    control_variables();
    performance_variables();
    categories();
#if MPI_VERSION >= 4
    events();
#endif
    MPI_T_finalize();
}
