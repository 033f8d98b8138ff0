//! Names of all functions, by number.

static NAMES: &[u8; 7379] = b"\
    SendIsendSend_initBsendIbsendBsend_initSsendIssendSsend_initRsendIrsendRsend_initRecvIrecvRe\
    cv_initSendrecvSendrecv_replaceIsendrecvIsendrecv_replaceProbeIprobeMprobeImprobeMrecvImrecv\
    Buffer_attachBuffer_detachBuffer_flushBuffer_iflushComm_attach_bufferComm_detach_bufferComm_\
    flush_bufferComm_iflush_bufferSession_attach_bufferSession_detach_bufferSession_flush_buffer\
    Session_iflush_bufferWaitWaitanyWaitallWaitsomeTestTestanyTestallTestsomeStartStartallReques\
    t_get_statusRequest_get_status_anyRequest_get_status_allRequest_get_status_someRequest_freeC\
    ancelTest_cancelledGet_countGet_elementsGet_elements_xStatus_get_sourceStatus_get_tagStatus_\
    get_errorStatus_set_sourceStatus_set_tagStatus_set_errorGrequest_startGrequest_completeStatu\
    s_set_elementsStatus_set_elements_xStatus_set_cancelledPsend_initPrecv_initPreadyPready_rang\
    ePready_listParrivedType_contiguousType_vectorType_create_hvectorType_indexedType_create_hin\
    dexedType_create_indexed_blockType_create_hindexed_blockType_create_structType_create_subarr\
    ayType_create_darrayType_create_resizedType_dupType_commitType_freeGet_addressAint_addAint_d\
    iffType_sizeType_size_xType_get_extentType_get_extent_xType_get_true_extentType_get_true_ext\
    ent_xType_get_envelopeType_get_contentsType_get_value_indexPackUnpackPack_sizePack_externalU\
    npack_externalPack_external_sizeType_create_f90_integerType_create_f90_realType_create_f90_c\
    omplexType_match_sizeSizeofBarrierIbarrierBarrier_initBcastIbcastBcast_initGatherIgatherGath\
    er_initGathervIgathervGatherv_initScatterIscatterScatter_initScattervIscattervScatterv_initA\
    llgatherIallgatherAllgather_initAllgathervIallgathervAllgatherv_initAlltoallIalltoallAlltoal\
    l_initAlltoallvIalltoallvAlltoallv_initAlltoallwIalltoallwAlltoallw_initReduceIreduceReduce_\
    initAllreduceIallreduceAllreduce_initReduce_scatter_blockIreduce_scatter_blockReduce_scatter\
    _block_initReduce_scatterIreduce_scatterReduce_scatter_initScanIscanScan_initExscanIexscanEx\
    scan_initOp_createOp_freeOp_commutativeReduce_localGroup_sizeGroup_rankGroup_translate_ranks\
    Group_compareComm_groupGroup_unionGroup_intersectionGroup_differenceGroup_inclGroup_exclGrou\
    p_range_inclGroup_range_exclGroup_freeComm_sizeComm_rankComm_compareComm_dupComm_dup_with_in\
    foComm_idupComm_idup_with_infoComm_createComm_create_groupComm_splitComm_split_typeComm_crea\
    te_from_groupComm_freeComm_set_infoComm_get_infoComm_test_interComm_remote_sizeComm_remote_g\
    roupIntercomm_createIntercomm_create_from_groupsIntercomm_mergeComm_set_nameComm_get_nameTyp\
    e_set_nameType_get_nameWin_set_nameWin_get_nameComm_create_keyvalComm_free_keyvalComm_set_at\
    trComm_get_attrComm_delete_attrType_create_keyvalType_free_keyvalType_set_attrType_get_attrT\
    ype_delete_attrWin_create_keyvalWin_free_keyvalWin_set_attrWin_get_attrWin_delete_attrCart_c\
    reateDims_createCartdim_getCart_getCart_rankCart_coordsCart_shiftCart_subCart_mapGraph_creat\
    eGraphdims_getGraph_getGraph_neighbors_countGraph_neighborsGraph_mapDist_graph_create_adjace\
    ntDist_graph_createDist_graph_neighbors_countDist_graph_neighborsTopo_testNeighbor_allgather\
    Ineighbor_allgatherNeighbor_allgather_initNeighbor_allgathervIneighbor_allgathervNeighbor_al\
    lgatherv_initNeighbor_alltoallIneighbor_alltoallNeighbor_alltoall_initNeighbor_alltoallvInei\
    ghbor_alltoallvNeighbor_alltoallv_initNeighbor_alltoallwIneighbor_alltoallwNeighbor_alltoall\
    w_initGet_versionGet_library_versionGet_processor_nameGet_hw_resource_infoAlloc_memFree_memC\
    omm_create_errhandlerComm_set_errhandlerComm_get_errhandlerWin_create_errhandlerWin_set_errh\
    andlerWin_get_errhandlerFile_create_errhandlerFile_set_errhandlerFile_get_errhandlerSession_\
    create_errhandlerSession_set_errhandlerSession_get_errhandlerErrhandler_freeComm_call_errhan\
    dlerWin_call_errhandlerFile_call_errhandlerSession_call_errhandlerError_stringError_classAdd\
    _error_classRemove_error_classAdd_error_codeRemove_error_codeAdd_error_stringRemove_error_st\
    ringWtimeWtickInfo_createInfo_create_envInfo_dupInfo_freeInfo_setInfo_deleteInfo_getInfo_get\
    _valuelenInfo_get_stringInfo_get_nkeysInfo_get_nthkeyInitInit_threadInitializedFinalizeFinal\
    izedAbortQuery_threadIs_thread_mainSession_initSession_finalizeSession_get_infoSession_get_n\
    um_psetsSession_get_nth_psetSession_get_pset_infoGroup_from_session_psetComm_spawnComm_spawn\
    _multipleComm_get_parentOpen_portClose_portComm_acceptComm_connectPublish_nameUnpublish_name\
    Lookup_nameComm_disconnectComm_joinWin_createWin_allocateWin_allocate_sharedWin_shared_query\
    Win_create_dynamicWin_attachWin_detachWin_freeWin_get_groupWin_set_infoWin_get_infoPutRputGe\
    tRgetAccumulateRaccumulateGet_accumulateRget_accumulateFetch_and_opCompare_and_swapWin_fence\
    Win_startWin_completeWin_postWin_waitWin_testWin_lockWin_lock_allWin_unlockWin_unlock_allWin\
    _flushWin_flush_allWin_flush_localWin_flush_local_allWin_syncFile_openFile_closeFile_deleteF\
    ile_set_sizeFile_preallocateFile_get_sizeFile_get_groupFile_get_amodeFile_set_infoFile_get_i\
    nfoFile_set_viewFile_get_viewFile_seekFile_get_positionFile_get_byte_offsetFile_seek_sharedF\
    ile_get_position_sharedFile_get_type_extentRegister_datarepFile_set_atomicityFile_get_atomic\
    ityFile_syncFile_read_atFile_iread_atFile_read_at_allFile_iread_at_allFile_read_at_all_begin\
    File_read_at_all_endFile_write_atFile_iwrite_atFile_write_at_allFile_iwrite_at_allFile_write\
    _at_all_beginFile_write_at_all_endFile_readFile_ireadFile_read_allFile_iread_allFile_read_al\
    l_beginFile_read_all_endFile_writeFile_iwriteFile_write_allFile_iwrite_allFile_write_all_beg\
    inFile_write_all_endFile_read_sharedFile_iread_sharedFile_read_orderedFile_read_ordered_begi\
    nFile_read_ordered_endFile_write_sharedFile_iwrite_sharedFile_write_orderedFile_write_ordere\
    d_beginFile_write_ordered_endPcontrolT_init_threadT_finalizeT_enum_get_infoT_enum_get_itemT_\
    cvar_get_indexT_cvar_get_infoT_cvar_get_numT_cvar_handle_allocT_cvar_handle_freeT_cvar_readT\
    _cvar_writeT_pvar_get_indexT_pvar_get_infoT_pvar_get_numT_pvar_handle_allocT_pvar_handle_fre\
    eT_pvar_readT_pvar_readresetT_pvar_resetT_pvar_session_createT_pvar_session_freeT_pvar_start\
    T_pvar_stopT_pvar_writeT_event_callback_get_infoT_event_callback_set_infoT_event_copyT_event\
    _get_indexT_event_get_infoT_event_get_numT_event_get_sourceT_event_get_timestampT_event_hand\
    le_allocT_event_handle_freeT_event_handle_get_infoT_event_handle_set_infoT_event_readT_event\
    _register_callbackT_event_set_dropped_handlerT_source_get_infoT_source_get_numT_source_get_t\
    imestampT_category_changedT_category_get_categoriesT_category_get_cvarsT_category_get_events\
    T_category_get_indexT_category_get_infoT_category_get_numT_category_get_num_eventsT_category\
    _get_pvarsComm_f2cComm_c2fErrhandler_f2cErrhandler_c2fFile_f2cFile_c2fGroup_f2cGroup_c2fInfo\
    _f2cInfo_c2fMessage_f2cMessage_c2fOp_f2cOp_c2fRequest_f2cRequest_c2fSession_f2cSession_c2fTy\
    pe_f2cType_c2fWin_f2cWin_c2fStatus_f2cStatus_c2fStatus_f082cStatus_c2f08Status_f2f08Status_f\
    082fF_sync_regComm_tointComm_fromintErrhandler_tointErrhandler_fromintFile_tointFile_fromint\
    Group_tointGroup_fromintInfo_tointInfo_fromintMessage_tointMessage_fromintOp_tointOp_fromint\
    Request_tointRequest_fromintSession_tointSession_fromintType_tointType_fromintWin_tointWin_f\
    romintAbi_get_versionAbi_get_infoAbi_get_fortran_infoAbi_set_fortran_infoAbi_get_fortran_boo\
    leansAbi_set_fortran_booleansKeyval_createKeyval_freeAttr_putAttr_getAttr_deleteAddressErrha\
    ndler_createErrhandler_getErrhandler_setType_countType_extentType_hindexedType_hvectorType_l\
    bType_structType_ub\
";

static ENDS: [u16; 544] = [
    4, 9, 18, 23, 29, 39, 44, 50, 60, 65, 71, 81, 85, 90, 99, 107,
    123, 132, 149, 154, 160, 166, 173, 178, 184, 197, 210, 222, 235, 253, 271, 288,
    306, 327, 348, 368, 389, 393, 400, 407, 415, 419, 426, 433, 441, 446, 454, 472,
    494, 516, 539, 551, 557, 571, 580, 592, 606, 623, 637, 653, 670, 684, 700, 714,
    731, 750, 771, 791, 801, 811, 817, 829, 840, 848, 863, 874, 893, 905, 925, 950,
    976, 994, 1014, 1032, 1051, 1059, 1070, 1079, 1090, 1098, 1107, 1116, 1127, 1142, 1159, 1179,
    1201, 1218, 1235, 1255, 1259, 1265, 1274, 1287, 1302, 1320, 1343, 1363, 1386, 1401, 1407, 1414,
    1422, 1434, 1439, 1445, 1455, 1461, 1468, 1479, 1486, 1494, 1506, 1513, 1521, 1533, 1541, 1550,
    1563, 1572, 1582, 1596, 1606, 1617, 1632, 1640, 1649, 1662, 1671, 1681, 1695, 1704, 1714, 1728,
    1734, 1741, 1752, 1761, 1771, 1785, 1805, 1826, 1851, 1865, 1880, 1899, 1903, 1908, 1917, 1923,
    1930, 1941, 1950, 1957, 1971, 1983, 1993, 2003, 2024, 2037, 2047, 2058, 2076, 2092, 2102, 2112,
    2128, 2144, 2154, 2163, 2172, 2184, 2192, 2210, 2219, 2238, 2249, 2266, 2276, 2291, 2313, 2322,
    2335, 2348, 2363, 2379, 2396, 2412, 2440, 2455, 2468, 2481, 2494, 2507, 2519, 2531, 2549, 2565,
    2578, 2591, 2607, 2625, 2641, 2654, 2667, 2683, 2700, 2715, 2727, 2739, 2754, 2765, 2776, 2787,
    2795, 2804, 2815, 2825, 2833, 2841, 2853, 2866, 2875, 2896, 2911, 2920, 2946, 2963, 2989, 3009,
    3018, 3036, 3055, 3078, 3097, 3117, 3141, 3158, 3176, 3198, 3216, 3235, 3258, 3276, 3295, 3318,
    3329, 3348, 3366, 3386, 3395, 3403, 3425, 3444, 3463, 3484, 3502, 3520, 3542, 3561, 3580, 3605,
    3627, 3649, 3664, 3684, 3703, 3723, 3746, 3758, 3769, 3784, 3802, 3816, 3833, 3849, 3868, 3873,
    3878, 3889, 3904, 3912, 3921, 3929, 3940, 3948, 3965, 3980, 3994, 4009, 4013, 4024, 4035, 4043,
    4052, 4057, 4069, 4083, 4095, 4111, 4127, 4148, 4168, 4189, 4212, 4222, 4241, 4256, 4265, 4275,
    4286, 4298, 4310, 4324, 4335, 4350, 4359, 4369, 4381, 4400, 4416, 4434, 4444, 4454, 4462, 4475,
    4487, 4499, 4502, 4506, 4509, 4513, 4523, 4534, 4548, 4563, 4575, 4591, 4600, 4609, 4621, 4629,
    4637, 4645, 4653, 4665, 4675, 4689, 4698, 4711, 4726, 4745, 4753, 4762, 4772, 4783, 4796, 4812,
    4825, 4839, 4853, 4866, 4879, 4892, 4905, 4914, 4931, 4951, 4967, 4991, 5011, 5027, 5045, 5063,
    5072, 5084, 5097, 5113, 5130, 5152, 5172, 5185, 5199, 5216, 5234, 5257, 5278, 5287, 5297, 5310,
    5324, 5343, 5360, 5370, 5381, 5395, 5410, 5430, 5448, 5464, 5481, 5498, 5521, 5542, 5559, 5577,
    5595, 5619, 5641, 5649, 5662, 5672, 5687, 5702, 5718, 5733, 5747, 5766, 5784, 5795, 5807, 5823,
    5838, 5852, 5871, 5889, 5900, 5916, 5928, 5949, 5968, 5980, 5991, 6003, 6028, 6053, 6065, 6082,
    6098, 6113, 6131, 6152, 6172, 6191, 6214, 6237, 6249, 6274, 6301, 6318, 6334, 6356, 6374, 6399,
    6419, 6440, 6460, 6479, 6497, 6522, 6542, 6550, 6558, 6572, 6586, 6594, 6602, 6611, 6620, 6628,
    6636, 6647, 6658, 6664, 6670, 6681, 6692, 6703, 6714, 6722, 6730, 6737, 6744, 6754, 6764, 6776,
    6788, 6800, 6812, 6822, 6832, 6844, 6860, 6878, 6888, 6900, 6911, 6924, 6934, 6946, 6959, 6974,
    6982, 6992, 7005, 7020, 7033, 7048, 7058, 7070, 7079, 7090, 7105, 7117, 7137, 7157, 7181, 7205,
    7218, 7229, 7237, 7245, 7256, 7263, 7280, 7294, 7308, 7318, 7329, 7342, 7354, 7361, 7372, 7379,
];

/// The name of a function, without `MPI_`.
pub fn name(function: usize) -> &'static [u8] {
    let begin = function.checked_sub(1).and_then(|i| ENDS.get(i)).copied().unwrap_or(0);
    let end = ENDS.get(function).copied().unwrap_or(begin);
    NAMES.get(usize::from(begin)..usize::from(end)).unwrap_or_default()
}
