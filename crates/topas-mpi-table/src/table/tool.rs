//! Tool support.

use crate::row::mpi;

mpi! {
    // Profiling
    1.0 MPI_Pcontrol(in level: Int, in varargs: Variadic) Profiling;

    // Tool interface
    3.0 MPI_T_init_thread(in required: Int, out provided: Int) Tool, languages(C);
    3.0 MPI_T_finalize() Tool, languages(C);

    // Names of numbers
    3.0 MPI_T_enum_get_info(
        in enumtype: ToolEnum, out num: Int, out name: String, inout name_len: Length
    ) Tool, languages(C);
    3.0 MPI_T_enum_get_item(
        in enumtype: ToolEnum, in index: Int, out value: Int, out name: String,
        inout name_len: Length
    ) Tool, languages(C);

    // Control variables
    3.1 MPI_T_cvar_get_index(in name: String, out cvar_index: Int) Tool, languages(C);
    3.0 MPI_T_cvar_get_info(
        in cvar_index: Int, out name: String, inout name_len: Length, out verbosity: Int,
        out datatype: Datatype, out enumtype: ToolEnum, out desc: String, inout desc_len: Length,
        out bind: Int, out scope: Int
    ) Tool, languages(C);
    3.0 MPI_T_cvar_get_num(out num_cvar: Int) Tool, languages(C);
    3.0 MPI_T_cvar_handle_alloc(
        in cvar_index: Int, in obj_handle: Object, out handle: CvarHandle, out count: Int
    ) Tool, languages(C);
    3.0 MPI_T_cvar_handle_free(inout handle: CvarHandle) Tool, languages(C);
    3.0 MPI_T_cvar_read(in handle: CvarHandle, out buf: Choice) Tool, languages(C);
    3.0 MPI_T_cvar_write(in handle: CvarHandle, in buf: Choice) Tool, languages(C);

    // Performance variables
    3.1 MPI_T_pvar_get_index(
        in name: String, in var_class: Int, out pvar_index: Int
    ) Tool, languages(C);
    3.0 MPI_T_pvar_get_info(
        in pvar_index: Int, out name: String, inout name_len: Length, out verbosity: Int,
        out var_class: Int, out datatype: Datatype, out enumtype: ToolEnum, out desc: String,
        inout desc_len: Length, out bind: Int, out readonly: Logical, out continuous: Logical,
        out atomic: Logical
    ) Tool, languages(C);
    3.0 MPI_T_pvar_get_num(out num_pvar: Int) Tool, languages(C);
    3.0 MPI_T_pvar_handle_alloc(
        in pe_session: PvarSession, in pvar_index: Int, in obj_handle: Object,
        out handle: PvarHandle, out count: Int
    ) Tool, languages(C);
    3.0 MPI_T_pvar_handle_free(
        in pe_session: PvarSession, inout handle: PvarHandle
    ) Tool, languages(C);
    3.0 MPI_T_pvar_read(
        in pe_session: PvarSession, in handle: PvarHandle, out buf: Choice
    ) Tool, languages(C);
    3.0 MPI_T_pvar_readreset(
        in pe_session: PvarSession, in handle: PvarHandle, out buf: Choice
    ) Tool, languages(C);
    3.0 MPI_T_pvar_reset(in pe_session: PvarSession, in handle: PvarHandle) Tool, languages(C);
    3.0 MPI_T_pvar_session_create(out pe_session: PvarSession) Tool, languages(C);
    3.0 MPI_T_pvar_session_free(inout pe_session: PvarSession) Tool, languages(C);
    3.0 MPI_T_pvar_start(in pe_session: PvarSession, in handle: PvarHandle) Tool, languages(C);
    3.0 MPI_T_pvar_stop(in pe_session: PvarSession, in handle: PvarHandle) Tool, languages(C);
    3.0 MPI_T_pvar_write(
        in pe_session: PvarSession, in handle: PvarHandle, in buf: Choice
    ) Tool, languages(C);

    // Events
    4.0 MPI_T_event_callback_get_info(
        in event_registration: EventRegistration, in cb_safety: CallbackSafety, out info_used: Info
    ) Tool, languages(C);
    4.0 MPI_T_event_callback_set_info(
        in event_registration: EventRegistration, in cb_safety: CallbackSafety, in info: Info
    ) Tool, languages(C);
    4.0 MPI_T_event_copy(
        in event_instance: EventInstance, out buffer: BufferAddress
    ) Tool, languages(C);
    4.0 MPI_T_event_get_index(in name: String, out event_index: Int) Tool, languages(C);
    4.0 MPI_T_event_get_info(
        in event_index: Int, out name: String, inout name_len: Length, out verbosity: Int,
        out array_of_datatypes: Datatype[num_elements],
        out array_of_displacements: Aint[num_elements], inout num_elements: Length,
        out enumtype: ToolEnum, out info: Info, out desc: String, inout desc_len: Length,
        out bind: Int
    ) Tool, languages(C);
    4.0 MPI_T_event_get_num(out num_events: Int) Tool, languages(C);
    4.0 MPI_T_event_get_source(
        in event_instance: EventInstance, out source_index: Int
    ) Tool, languages(C);
    4.0 MPI_T_event_get_timestamp(
        in event_instance: EventInstance, out event_timestamp: LargeCount
    ) Tool, languages(C);
    4.0 MPI_T_event_handle_alloc(
        in event_index: Int, in obj_handle: Object, in info: Info,
        out event_registration: EventRegistration
    ) Tool, languages(C);
    4.0 MPI_T_event_handle_free(
        in event_registration: EventRegistration, in user_data: ExtraState,
        in free_cb_function: EventFreeFunction
    ) Tool, languages(C);
    4.0 MPI_T_event_handle_get_info(
        in event_registration: EventRegistration, out info_used: Info
    ) Tool, languages(C);
    4.0 MPI_T_event_handle_set_info(
        in event_registration: EventRegistration, in info: Info
    ) Tool, languages(C);
    4.0 MPI_T_event_read(
        in event_instance: EventInstance, in element_index: Int, out buffer: BufferAddress
    ) Tool, languages(C);
    4.0 MPI_T_event_register_callback(
        in event_registration: EventRegistration, in cb_safety: CallbackSafety, in info: Info,
        in user_data: ExtraState, in event_cb_function: EventFunction
    ) Tool, languages(C);
    4.0 MPI_T_event_set_dropped_handler(
        in event_registration: EventRegistration, in dropped_cb_function: EventDroppedFunction
    ) Tool, languages(C);

    // Sources of events
    4.0 MPI_T_source_get_info(
        in source_index: Int, out name: String, inout name_len: Length, out desc: String,
        inout desc_len: Length, out ordering: SourceOrder, out ticks_per_second: LargeCount,
        out max_ticks: LargeCount, out info: Info
    ) Tool, languages(C);
    4.0 MPI_T_source_get_num(out num_sources: Int) Tool, languages(C);
    4.0 MPI_T_source_get_timestamp(
        in source_index: Int, out timestamp: LargeCount
    ) Tool, languages(C);

    // Categories
    3.0 MPI_T_category_changed(out update_number: Int) Tool, languages(C);
    3.0 MPI_T_category_get_categories(
        in cat_index: Int, in len: Length, out indices: Int[len]
    ) Tool, languages(C);
    3.0 MPI_T_category_get_cvars(
        in cat_index: Int, in len: Length, out indices: Int[len]
    ) Tool, languages(C);
    4.0 MPI_T_category_get_events(
        in cat_index: Int, in len: Length, out indices: Int[len]
    ) Tool, languages(C);
    3.1 MPI_T_category_get_index(in name: String, out cat_index: Int) Tool, languages(C);
    3.0 MPI_T_category_get_info(
        in cat_index: Int, out name: String, inout name_len: Length, out desc: String,
        inout desc_len: Length, out num_cvars: Int, out num_pvars: Int, out num_categories: Int
    ) Tool, languages(C);
    3.0 MPI_T_category_get_num(out num_cat: Int) Tool, languages(C);
    4.0 MPI_T_category_get_num_events(in cat_index: Int, out num_events: Int) Tool, languages(C);
    3.0 MPI_T_category_get_pvars(
        in cat_index: Int, in len: Length, out indices: Int[len]
    ) Tool, languages(C);
}
