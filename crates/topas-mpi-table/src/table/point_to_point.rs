//! Point-to-point communication: messages.
//!
//! Requests and statuses are in `request`.

use crate::row::mpi;

mpi! {
    // Blocking and non-blocking send, four modes
    1.0 MPI_Send(
        in buf: Choice, in count: Count, in datatype: Datatype, in dest: Rank, in tag: Tag,
        in comm: Comm
    ) Send(Blocking), large(4.0)
        + Nonblocking 1.0 MPI_Isend + Persistent 1.0 MPI_Send_init
    {
        sends buf(count * datatype) to(dest);
    }
    1.0 MPI_Bsend(
        in buf: Choice, in count: Count, in datatype: Datatype, in dest: Rank, in tag: Tag,
        in comm: Comm
    ) Send(Blocking), large(4.0), waits(Nothing)
        + Nonblocking 1.0 MPI_Ibsend + Persistent 1.0 MPI_Bsend_init
    {
        sends buf(count * datatype) to(dest);
    }
    1.0 MPI_Ssend(
        in buf: Choice, in count: Count, in datatype: Datatype, in dest: Rank, in tag: Tag,
        in comm: Comm
    ) Send(Blocking), large(4.0)
        + Nonblocking 1.0 MPI_Issend + Persistent 1.0 MPI_Ssend_init
    {
        sends buf(count * datatype) to(dest);
    }
    1.0 MPI_Rsend(
        in buf: Choice, in count: Count, in datatype: Datatype, in dest: Rank, in tag: Tag,
        in comm: Comm
    ) Send(Blocking), large(4.0)
        + Nonblocking 1.0 MPI_Irsend + Persistent 1.0 MPI_Rsend_init
    {
        sends buf(count * datatype) to(dest);
    }

    // Receive
    1.0 MPI_Recv(
        out buf: Choice, in count: Count, in datatype: Datatype, in source: Rank, in tag: Tag,
        in comm: Comm, out status: Status
    ) Receive(Blocking), large(4.0)
    {
        receives buf(count * datatype) from(source) told_by(status);
    }
    1.0 MPI_Irecv(
        out buf: Choice, in count: Count, in datatype: Datatype, in source: Rank, in tag: Tag,
        in comm: Comm, out request: Request
    ) Receive(Nonblocking), large(4.0)
    {
        receives buf(count * datatype) from(source) told_by(completion);
    }
    1.0 MPI_Recv_init(
        out buf: Choice, in count: Count, in datatype: Datatype, in source: Rank, in tag: Tag,
        in comm: Comm, out request: Request
    ) Receive(Persistent), large(4.0)
    {
        receives buf(count * datatype) from(source) told_by(completion);
    }

    // Send and receive
    1.0 MPI_Sendrecv(
        in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype, in dest: Rank,
        in sendtag: Tag, out recvbuf: Choice, in recvcount: Count, in recvtype: Datatype,
        in source: Rank, in recvtag: Tag, in comm: Comm, out status: Status
    ) SendReceive(Blocking), large(4.0)
    {
        sends sendbuf(sendcount * sendtype) to(dest);
        receives recvbuf(recvcount * recvtype) from(source) told_by(status);
    }
    1.0 MPI_Sendrecv_replace(
        inout buf: Choice, in count: Count, in datatype: Datatype, in dest: Rank, in sendtag: Tag,
        in source: Rank, in recvtag: Tag, in comm: Comm, out status: Status
    ) SendReceive(Blocking), large(4.0)
    {
        sends buf(count * datatype) to(dest);
        receives buf(count * datatype) from(source) told_by(status);
    }
    4.0 MPI_Isendrecv(
        in sendbuf: Choice, in sendcount: Count, in sendtype: Datatype, in dest: Rank,
        in sendtag: Tag, out recvbuf: Choice, in recvcount: Count, in recvtype: Datatype,
        in source: Rank, in recvtag: Tag, in comm: Comm, out request: Request
    ) SendReceive(Nonblocking), large(4.0)
    {
        sends sendbuf(sendcount * sendtype) to(dest);
        receives recvbuf(recvcount * recvtype) from(source) told_by(completion);
    }
    4.0 MPI_Isendrecv_replace(
        inout buf: Choice, in count: Count, in datatype: Datatype, in dest: Rank, in sendtag: Tag,
        in source: Rank, in recvtag: Tag, in comm: Comm, out request: Request
    ) SendReceive(Nonblocking), large(4.0)
    {
        sends buf(count * datatype) to(dest);
        receives buf(count * datatype) from(source) told_by(completion);
    }

    // Probe; matched messages have their peer in the status
    1.0 MPI_Probe(in source: Rank, in tag: Tag, in comm: Comm, out status: Status) Probe(Blocking);
    1.0 MPI_Iprobe(
        in source: Rank, in tag: Tag, in comm: Comm, out flag: Logical, out status: Status
    ) Probe(Nonblocking);
    3.0 MPI_Mprobe(
        in source: Rank, in tag: Tag, in comm: Comm, out message: Message, out status: Status
    ) MatchedProbe(Blocking);
    3.0 MPI_Improbe(
        in source: Rank, in tag: Tag, in comm: Comm, out flag: Logical, out message: Message,
        out status: Status
    ) MatchedProbe(Nonblocking);
    3.0 MPI_Mrecv(
        out buf: Choice, in count: Count, in datatype: Datatype, inout message: Message,
        out status: Status
    ) Receive(Blocking), large(4.0)
    {
        receives buf(count * datatype) told_by(status);
    }
    3.0 MPI_Imrecv(
        out buf: Choice, in count: Count, in datatype: Datatype, inout message: Message,
        out request: Request
    ) Receive(Nonblocking), large(4.0)
    {
        receives buf(count * datatype) told_by(completion);
    }

    // Buffers for buffered sends
    1.0 MPI_Buffer_attach(inout buffer: Choice, in size: Bytes) SendBuffer, large(4.0);
    1.0 MPI_Buffer_detach(
        out buffer_addr: BufferAddress, out size: Bytes
    ) SendBuffer, large(4.0), waits(Partner);
    4.1 MPI_Buffer_flush() SendBuffer, waits(Partner);
    4.1 MPI_Buffer_iflush(out request: Request) SendBuffer;
    4.1 MPI_Comm_attach_buffer(
        in comm: Comm, inout buffer: Choice, in size: Bytes
    ) SendBuffer, large(4.1);
    4.1 MPI_Comm_detach_buffer(
        in comm: Comm, out buffer_addr: BufferAddress, out size: Bytes
    ) SendBuffer, large(4.1), waits(Partner);
    4.1 MPI_Comm_flush_buffer(in comm: Comm) SendBuffer, waits(Partner);
    4.1 MPI_Comm_iflush_buffer(in comm: Comm, out request: Request) SendBuffer;
    4.1 MPI_Session_attach_buffer(
        in session: Session, inout buffer: Choice, in size: Bytes
    ) SendBuffer, large(4.1);
    4.1 MPI_Session_detach_buffer(
        in session: Session, out buffer_addr: BufferAddress, out size: Bytes
    ) SendBuffer, large(4.1), waits(Partner);
    4.1 MPI_Session_flush_buffer(in session: Session) SendBuffer, waits(Partner);
    4.1 MPI_Session_iflush_buffer(in session: Session, out request: Request) SendBuffer;
}
