//! Requests and statuses, of point-to-point communication and of the external interfaces.

use crate::row::mpi;

mpi! {
    // Completion
    1.0 MPI_Wait(inout request: Request, out status: Status) Wait;
    1.0 MPI_Waitany(
        in count: Length, inout array_of_requests: Request[count], out index: Int,
        out status: Status
    ) Wait;
    1.0 MPI_Waitall(
        in count: Length, inout array_of_requests: Request[count],
        out array_of_statuses: Status[count]
    ) Wait;
    1.0 MPI_Waitsome(
        in incount: Length, inout array_of_requests: Request[incount], out outcount: Length,
        out array_of_indices: Int[incount], out array_of_statuses: Status[incount]
    ) Wait;
    1.0 MPI_Test(inout request: Request, out flag: Logical, out status: Status) Test;
    1.0 MPI_Testany(
        in count: Length, inout array_of_requests: Request[count], out index: Int,
        out flag: Logical, out status: Status
    ) Test;
    1.0 MPI_Testall(
        in count: Length, inout array_of_requests: Request[count], out flag: Logical,
        out array_of_statuses: Status[count]
    ) Test;
    1.0 MPI_Testsome(
        in incount: Length, inout array_of_requests: Request[incount], out outcount: Length,
        out array_of_indices: Int[incount], out array_of_statuses: Status[incount]
    ) Test;

    // Other uses of requests
    1.0 MPI_Start(inout request: Request) Start;
    1.0 MPI_Startall(in count: Length, inout array_of_requests: Request[count]) Start;
    2.0 MPI_Request_get_status(in request: Request, out flag: Logical, out status: Status) Request;
    4.1 MPI_Request_get_status_any(
        in count: Length, in array_of_requests: Request[count], out index: Int, out flag: Logical,
        out status: Status
    ) Request;
    4.1 MPI_Request_get_status_all(
        in count: Length, in array_of_requests: Request[count], out flag: Logical,
        out array_of_statuses: Status[count]
    ) Request;
    4.1 MPI_Request_get_status_some(
        in incount: Length, in array_of_requests: Request[incount], out outcount: Length,
        out array_of_indices: Int[incount], out array_of_statuses: Status[incount]
    ) Request;
    1.0 MPI_Request_free(inout request: Request) Request;
    1.0 MPI_Cancel(inout request: Request) Request;

    // Statuses
    1.0 MPI_Test_cancelled(in status: Status, out flag: Logical) Status;
    1.0 MPI_Get_count(
        in status: Status, in datatype: Datatype, out count: Count
    ) Status, large(4.0);
    1.0 MPI_Get_elements(
        in status: Status, in datatype: Datatype, out count: Count
    ) Status, large(4.0);
    3.0 MPI_Get_elements_x(
        in status: Status, in datatype: Datatype, out count: LargeCount
    ) Status, deprecated(4.1);
    4.1 MPI_Status_get_source(in status: Status, out source: Rank) Status;
    4.1 MPI_Status_get_tag(in status: Status, out tag: Tag) Status;
    4.1 MPI_Status_get_error(in status: Status, out err: Error) Status;
    4.1 MPI_Status_set_source(inout status: Status, in source: Rank) Status;
    4.1 MPI_Status_set_tag(inout status: Status, in tag: Tag) Status;
    4.1 MPI_Status_set_error(inout status: Status, in err: Error) Status;

    // Requests of the user's own (external interfaces)
    2.0 MPI_Grequest_start(
        in query_fn: GrequestQueryFunction, in free_fn: GrequestFreeFunction,
        in cancel_fn: GrequestCancelFunction, in extra_state: ExtraState, out request: Request
    ) GeneralizedRequest;
    2.0 MPI_Grequest_complete(in request: Request) GeneralizedRequest;
    2.0 MPI_Status_set_elements(
        inout status: Status, in datatype: Datatype, in count: Count
    ) Status, large(4.0);
    3.0 MPI_Status_set_elements_x(
        inout status: Status, in datatype: Datatype, in count: LargeCount
    ) Status, deprecated(4.1);
    2.0 MPI_Status_set_cancelled(inout status: Status, in flag: Logical) Status;
}
