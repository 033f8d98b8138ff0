//! What the modules `mpi` and `mpi_f08` declare.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use topas_mpi_table::{
    Fortran, Function, FunctionClass, Length, Parameter, ParameterKind, Returns, Version, functions,
};
use topas_tests::running::{Run, command, run};
use topas_tests::site::Scratch;

use super::judge::judges;

/// A module of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Module {
    Mpi,
    F08,
}

/// The declaration of a variable for a parameter; None if Fortran does not have it.
fn declaration(parameter: &Parameter, module: Module, large: bool) -> Option<String> {
    let f08 = module == Module::F08;
    let mut shape: Vec<&str> = Vec::new();
    let kind = match parameter.kind.fortran(large) {
        Fortran::None => return None,
        Fortran::Handle(name) if f08 => format!("type({name})"),
        Fortran::Handle(_) | Fortran::Integer => "integer".to_owned(),
        Fortran::Count => "integer(MPI_COUNT_KIND)".to_owned(),
        Fortran::Address => "integer(MPI_ADDRESS_KIND)".to_owned(),
        Fortran::Offset => "integer(MPI_OFFSET_KIND)".to_owned(),
        Fortran::Logical => "logical".to_owned(),
        Fortran::Character => match parameter.array {
            Some(Length::Constant(length)) => format!("character(len={length})"),
            _ => "character(len=8)".to_owned(),
        },
        Fortran::Choice => {
            shape.push("4");
            "real".to_owned()
        }
        Fortran::Pointer if f08 => "type(c_ptr)".to_owned(),
        Fortran::Pointer => "integer(MPI_ADDRESS_KIND)".to_owned(),
        Fortran::Status if f08 || parameter.kind == ParameterKind::F08Status => {
            "type(MPI_Status)".to_owned()
        }
        Fortran::Status => {
            shape.push("MPI_STATUS_SIZE");
            "integer".to_owned()
        }
        Fortran::Procedure if f08 => {
            let name = parameter.kind.c();
            let name = if large { name.large } else { name.small };
            return Some(format!(
                "procedure({}), pointer :: a_{}",
                name.trim_end_matches(" *"),
                parameter.name
            ));
        }
        Fortran::Procedure => return Some(format!("external :: a_{}", parameter.name)),
    };
    match parameter.kind {
        ParameterKind::FStatus => shape.push("MPI_STATUS_SIZE"),
        ParameterKind::RankRanges => shape.push("3"),
        ParameterKind::Strings => shape.push("4"),
        // Its array is that of the lists.
        ParameterKind::StringLists => shape.push("4"),
        _ => {}
    }
    if parameter.array.is_some() && parameter.kind != ParameterKind::String {
        shape.push("4");
    }
    let shape = if shape.is_empty() { String::new() } else { format!("({})", shape.join(",")) };
    Some(format!("{kind} :: a_{}{shape}", parameter.name))
}

/// A subroutine that calls `function` with variables of the types in the table.
fn call(function: &Function, module: Module, large: bool) -> String {
    let parameters: Vec<_> = function
        .parameters(large)
        .filter_map(|p| Some((p.name, declaration(p, module, large)?)))
        .collect();
    let mut text = format!("subroutine s_{}{}\n", function.name, if large { "_c" } else { "" });
    for (_, declaration) in &parameters {
        writeln!(text, "  {declaration}").unwrap();
    }
    let own_name = module == Module::F08 && large && function.is_c_in_f08();
    let name = format!("{}{}", function.name, if own_name { "_c" } else { "" });
    let mut arguments: Vec<String> =
        parameters.iter().map(|(name, _)| format!("a_{name}")).collect();
    match function.returns {
        Returns::Double => {
            writeln!(text, "  double precision :: r\n  r = {name}()").unwrap();
        }
        Returns::Aint => {
            let arguments = arguments.join(", ");
            let kind = "integer(MPI_ADDRESS_KIND)";
            writeln!(text, "  {kind} :: r\n  r = {name}({arguments})").unwrap();
        }
        Returns::Nothing => {
            writeln!(text, "  call {name}({})", arguments.join(", ")).unwrap();
        }
        _ => {
            // Optional in mpi_f08; the user's own functions of version 1 have none.
            arguments.push("ierror".to_owned());
            let arguments = arguments.join(", &\n    ");
            writeln!(text, "  integer :: ierror\n  call {name}({arguments})").unwrap();
        }
    }
    text + "end subroutine\n"
}

/// MPICH's module `mpi` leaves functions with buffers, and many others, to Fortran's rules for
/// procedures that nobody has declared: whatever is passed, goes.
fn declares_all(driver: &Path, module: Module) -> bool {
    module == Module::F08 || !driver.ends_with("mpifort.mpich")
}

/// What the compiler says of `calls`.
fn compile(driver: &Path, module: Module, calls: &[String], scratch: &Scratch) -> Run {
    let name = if module == Module::F08 { "mpi_f08" } else { "mpi" };
    let head =
        format!("module calls\nuse {name}\nuse, intrinsic :: iso_c_binding\nimplicit none\n");
    let text = format!("{head}contains\n{}end module\n", calls.concat());
    let source = scratch.path().join("calls.f90");
    fs::write(&source, text).expect("write a program");
    let mut words = vec!["-fsyntax-only", "-ffree-line-length-none"];
    words.push(if declares_all(driver, module) {
        "-Werror=implicit-interface"
    } else {
        "-fallow-argument-mismatch"
    });
    run(command(driver).args(words).arg(&source).current_dir(scratch.path()))
}

/// What a module does not declare as the standard says. What it does declare so after all has
/// to leave this list.
fn undeclared(judge: &str, module: Module, function: &Function, large: bool) -> bool {
    let io = matches!(function.class, FunctionClass::Io(..));
    let statuses = ["MPI_Status_f082f", "MPI_Status_f2f08"].contains(&function.name);
    match (judge, module) {
        // `mpif.h` and its successor leave out what MPI 2 replaced.
        ("openmpi-of-debian", Module::Mpi) => {
            statuses || function.deprecated == Some(Version::new(2, 0))
        }
        ("openmpi-of-debian", Module::F08) => statuses,
        // Its `flag` is an integer.
        ("mpich-of-debian", Module::Mpi) => function.name == "MPI_Parrived",
        // Version 4.0.2 has not caught up with all large counts; one is an erratum's.
        ("mpich-of-debian", Module::F08) => {
            let status = function.name == "MPI_Status_set_elements";
            large && (io || status || function.is_c_in_f08())
        }
        _ => false,
    }
}

/// Functions that are left out of the modules of an MPI, or that cannot be called like this.
fn callable(function: &Function) -> bool {
    // Generic over types.
    function.name != "MPI_Sizeof"
        // The standard leaves open what follows the level.
        && function.class != FunctionClass::Profiling
}

#[test]
fn fortran_modules_declare_what_the_table_says() {
    let test = "fortran_modules_declare_what_the_table_says";
    for judge in judges(test, &["gfortran", "ldd"]) {
        let Some(driver) = &judge.fortran else { continue };
        let scratch = Scratch::new();
        let version = judge.version(&scratch);
        for module in [Module::Mpi, Module::F08] {
            let f08 = module == Module::F08;
            let mut calls = Vec::new();
            for function in functions().filter(|f| f.is_in(version) && callable(f)) {
                if !(if f08 { function.in_f08() } else { function.in_fortran() }) {
                    continue;
                }
                // Only mpi_f08 has large counts.
                let large = f08 && function.large.is_some_and(|since| since <= version);
                for large in [Some(false), large.then_some(true)].into_iter().flatten() {
                    let call = call(function, module, large);
                    if undeclared(&judge.name, module, function, large) {
                        let said = compile(driver, module, &[call], &scratch);
                        assert_ne!(said.code(), 0, "{}: {}", judge.name, function.name);
                    } else {
                        calls.push(call);
                    }
                }
            }
            assert!(calls.len() > 300, "{} calls", calls.len());
            let said = compile(driver, module, &calls, &scratch);
            assert_eq!(said.code(), 0, "{} {module:?}:\n{}", judge.name, said.err());
            println!("{} {module:?}: {} calls", judge.name, calls.len());
        }
        let send = functions().find(|f| f.name == "MPI_Send").expect("MPI_Send");
        let wrong = call(send, Module::F08, false).replace("type(MPI_Comm)", "type(MPI_Group)");
        let said = compile(driver, Module::F08, &[wrong], &scratch);
        assert_ne!(said.code(), 0, "{}: a group passes", judge.name);
    }
}
