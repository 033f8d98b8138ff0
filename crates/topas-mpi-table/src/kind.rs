//! What a parameter is, and its type in C and Fortran.

/// How a parameter looks in Fortran. Handles are `INTEGER`, and with `mpi_f08` a type of
/// their own of the same size. Everything is passed by reference, so each argument is a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fortran {
    /// `INTEGER`; with `mpi_f08` a handle of this type, such as `TYPE(MPI_Comm)`.
    Handle(&'static str),
    /// `INTEGER`
    Integer,
    /// `INTEGER(KIND=MPI_COUNT_KIND)`
    Count,
    /// `INTEGER(KIND=MPI_ADDRESS_KIND)`
    Address,
    /// `INTEGER(KIND=MPI_OFFSET_KIND)`
    Offset,
    /// `LOGICAL`
    Logical,
    /// `CHARACTER*(*)`: its length follows the last argument, by value.
    Character,
    /// Any variable; `mpi_f08` may pass a descriptor of it.
    Choice,
    /// An address: `INTEGER(KIND=MPI_ADDRESS_KIND)`, `TYPE(C_PTR)` with `mpi_f08`.
    Pointer,
    /// `INTEGER(MPI_STATUS_SIZE)`, `TYPE(MPI_Status)` with `mpi_f08`.
    Status,
    /// A procedure.
    Procedure,
    /// Not in Fortran.
    None,
}

/// The type in C, without `const`, `*` and `[]`, in the function and in its `_c` variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CType {
    /// In the function.
    pub small: &'static str,
    /// In its variant for large counts.
    pub large: &'static str,
}

macro_rules! kinds {
    ($( $(#[$doc:meta])* $kind:ident $small:literal $(/ $large:literal)?, $fortran:expr $(=> $large_fortran:expr)?; )*) => {
        /// What a parameter is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ParameterKind {
            $( $(#[$doc])* $kind, )*
        }

        impl ParameterKind {
            /// Its type in C.
            pub const fn c(self) -> CType {
                match self {
                    $( ParameterKind::$kind => CType { small: $small, large: kinds!(@last $small $(, $large)?) }, )*
                }
            }

            /// Its type in Fortran, where `large` means the variant for large counts.
            pub const fn fortran(self, large: bool) -> Fortran {
                match self {
                    $( ParameterKind::$kind => {
                        let small = $fortran;
                        if large { kinds!(@last small $(, $large_fortran)?) } else { small }
                    } )*
                }
            }
        }
    };
    (@last $small:expr) => { $small };
    (@last $small:expr, $large:expr) => { $large };
}

use Fortran::{Address, Character, Choice, Count, Handle, Integer, Logical, None, Offset, Pointer};

kinds! {
    /// A communicator.
    Comm "MPI_Comm", Handle("MPI_Comm");
    /// A datatype.
    Datatype "MPI_Datatype", Handle("MPI_Datatype");
    /// An error handler.
    Errhandler "MPI_Errhandler", Handle("MPI_Errhandler");
    /// A file.
    File "MPI_File", Handle("MPI_File");
    /// A group.
    Group "MPI_Group", Handle("MPI_Group");
    /// An info object.
    Info "MPI_Info", Handle("MPI_Info");
    /// A matched message.
    Message "MPI_Message", Handle("MPI_Message");
    /// An operator.
    Op "MPI_Op", Handle("MPI_Op");
    /// A request.
    Request "MPI_Request", Handle("MPI_Request");
    /// A session.
    Session "MPI_Session", Handle("MPI_Session");
    /// A window.
    Win "MPI_Win", Handle("MPI_Win");
    /// A status, or an array of them.
    Status "MPI_Status", Fortran::Status;

    /// A buffer for data of any type.
    Choice "void", Choice;
    /// Elements of a datatype, or entries of a list.
    Count "int" / "MPI_Count", Integer => Count;
    /// Always an `MPI_Count`.
    LargeCount "MPI_Count", Count;
    /// A size in bytes.
    Bytes "int" / "MPI_Count", Integer => Count;
    /// A place in a buffer or list, in bytes or elements.
    Position "int" / "MPI_Count", Integer => Count;
    /// A displacement in elements or bytes, or the unit of one.
    Displacement "int" / "MPI_Aint", Integer => Address;
    /// A distance in bytes.
    Extent "MPI_Aint" / "MPI_Count", Address => Count;
    /// An address or its difference, a size of memory, or a displacement in a window.
    Aint "MPI_Aint", Address;
    /// A place in a file, or its size.
    Offset "MPI_Offset", Offset;

    /// A rank; it may be `MPI_PROC_NULL`, that of a source `MPI_ANY_SOURCE`.
    Rank "int", Integer;
    /// The rank of the root; on an intercommunicator it may be `MPI_ROOT`.
    Root "int", Integer;
    /// A tag.
    Tag "int", Integer;
    /// Lists of three ranks: first, last, stride.
    RankRanges "int [3]", Integer;
    /// The length of an array or text.
    Length "int", Integer;
    /// Any other number.
    Int "int", Integer;
    /// True or false.
    Logical "int", Logical;
    /// A key of attributes.
    Keyval "int", Integer;
    /// An error code or class.
    Error "int", Integer;

    /// Text.
    String "char", Character;
    /// A list of texts, up to an end mark or one per program that is spawned.
    Strings "char *", Character;
    /// A list of lists of texts.
    StringLists "char **", Character;
    /// Number of arguments of `main`.
    ArgCount "int", None;
    /// Arguments of `main`.
    ArgVector "char **", None;
    /// More arguments, of any kind.
    Variadic "...", None;

    /// Where to store the address of a buffer.
    BufferAddress "void", Pointer;
    /// The value of an attribute, or where to store it.
    AttributeValue "void", Address;
    /// The value of an attribute, as MPI 1 had it.
    IntegerAttribute "void", Integer;
    /// Passed on to callbacks.
    ExtraState "void", Address;
    /// Passed on to callbacks, as MPI 1 had it.
    IntegerExtraState "void", Integer;
    /// A value of `LOGICAL` in Fortran.
    LogicalValue "void", Logical;

    /// A handle of Fortran.
    Fint "MPI_Fint", None;
    /// A status of Fortran, as an array of integers.
    FStatus "MPI_Fint", Integer;
    /// A status of `mpi_f08`.
    F08Status "MPI_F08_status", Fortran::Status;

    /// Of `MPI_T`: the address of a handle of MPI.
    Object "void", None;
    /// Of `MPI_T`: a list of names for numbers.
    ToolEnum "MPI_T_enum", None;
    /// Of `MPI_T`: a control variable.
    CvarHandle "MPI_T_cvar_handle", None;
    /// Of `MPI_T`: a performance variable.
    PvarHandle "MPI_T_pvar_handle", None;
    /// Of `MPI_T`: a session of performance variables.
    PvarSession "MPI_T_pvar_session", None;
    /// Of `MPI_T`: an event.
    EventInstance "MPI_T_event_instance", None;
    /// Of `MPI_T`: who wants an event.
    EventRegistration "MPI_T_event_registration", None;
    /// Of `MPI_T`: how careful a callback has to be.
    CallbackSafety "MPI_T_cb_safety", None;
    /// Of `MPI_T`: whether events come in order.
    SourceOrder "MPI_T_source_order", None;

    /// Combines elements.
    UserFunction "MPI_User_function *" / "MPI_User_function_c *", Fortran::Procedure;
    /// Of a communicator's error handler. In MPI 1 `MPI_Handler_function`, without arguments.
    CommErrhandlerFunction "MPI_Comm_errhandler_function *", Fortran::Procedure;
    /// Of a file's error handler.
    FileErrhandlerFunction "MPI_File_errhandler_function *", Fortran::Procedure;
    /// Of a session's error handler.
    SessionErrhandlerFunction "MPI_Session_errhandler_function *", Fortran::Procedure;
    /// Of a window's error handler.
    WinErrhandlerFunction "MPI_Win_errhandler_function *", Fortran::Procedure;
    /// Copies an attribute, in MPI 1.
    CopyFunction "MPI_Copy_function *", Fortran::Procedure;
    /// Deletes an attribute, in MPI 1.
    DeleteFunction "MPI_Delete_function *", Fortran::Procedure;
    /// Copies an attribute of a communicator.
    CommCopyAttrFunction "MPI_Comm_copy_attr_function *", Fortran::Procedure;
    /// Deletes an attribute of a communicator.
    CommDeleteAttrFunction "MPI_Comm_delete_attr_function *", Fortran::Procedure;
    /// Copies an attribute of a datatype.
    TypeCopyAttrFunction "MPI_Type_copy_attr_function *", Fortran::Procedure;
    /// Deletes an attribute of a datatype.
    TypeDeleteAttrFunction "MPI_Type_delete_attr_function *", Fortran::Procedure;
    /// Copies an attribute of a window.
    WinCopyAttrFunction "MPI_Win_copy_attr_function *", Fortran::Procedure;
    /// Deletes an attribute of a window.
    WinDeleteAttrFunction "MPI_Win_delete_attr_function *", Fortran::Procedure;
    /// Tells the status of a request of the user's own.
    GrequestQueryFunction "MPI_Grequest_query_function *", Fortran::Procedure;
    /// Frees a request of the user's own.
    GrequestFreeFunction "MPI_Grequest_free_function *", Fortran::Procedure;
    /// Cancels a request of the user's own.
    GrequestCancelFunction "MPI_Grequest_cancel_function *", Fortran::Procedure;
    /// Converts data of files.
    DatarepConversionFunction "MPI_Datarep_conversion_function *"
        / "MPI_Datarep_conversion_function_c *", Fortran::Procedure;
    /// Tells extents in files.
    DatarepExtentFunction "MPI_Datarep_extent_function *", Fortran::Procedure;
    /// Of `MPI_T`: hears of an event.
    EventFunction "MPI_T_event_cb_function *", None;
    /// Of `MPI_T`: hears that a registration is gone.
    EventFreeFunction "MPI_T_event_free_cb_function *", None;
    /// Of `MPI_T`: hears of lost events.
    EventDroppedFunction "MPI_T_event_dropped_cb_function *", None;
}
