// The way from the program to the next definition of a function, on AArch64; see x86_64.s.

.macro stub name, number
    .weak \name
    .type \name, %function
\name:
    mov w16, #\number
    b topas_mpi_common
    .size \name, . - \name
.endm

// Vector registers are saved for all.
.macro variadic name, number
    stub \name, \number
.endm

.macro floating name, number
    stub \name, \number
.endm

    .section .tbss, "awT", %nobits
    .balign 64
    .globl topas_mpi_thread
    .hidden topas_mpi_thread
    .type topas_mpi_thread, %object
    .size topas_mpi_thread, 128
topas_mpi_thread:
    .zero 128

// The variables of this thread, as a second argument.
.macro own
    mrs x1, tpidr_el0
    adrp x2, :gottprel:topas_mpi_thread
    ldr x2, [x2, #:gottprel_lo12:topas_mpi_thread]
    add x1, x1, x2
.endm

    .section .text.topas_mpi_common, "ax", %progbits
    .hidden topas_mpi_enter_extra
    .hidden topas_mpi_leave
    .hidden topas_mpi_leave_extra
    .balign 64
    .type topas_mpi_common, %function
topas_mpi_common:
    .cfi_startproc
    adrp x17, topas_mpi_mode
    ldr w17, [x17, #:lo12:topas_mpi_mode]
    tst w17, #OFF
    b.ne 2f
0:
    stp x29, x30, [sp, #-16]!
    .cfi_def_cfa_offset 16
    .cfi_offset x29, -16
    .cfi_offset x30, -8
    mov x29, sp
    .cfi_def_cfa_register x29
    sub sp, sp, #FRAME
    stp x0, x1, [sp, #(ARGUMENTS + 0)]
    stp x2, x3, [sp, #(ARGUMENTS + 16)]
    stp x4, x5, [sp, #(ARGUMENTS + 32)]
    stp x6, x7, [sp, #(ARGUMENTS + 48)]
    add x9, sp, #VECTORS
    stp q0, q1, [x9, #0]
    stp q2, q3, [x9, #32]
    stp q4, q5, [x9, #64]
    stp q6, q7, [x9, #96]
    mov x0, sp
    own
    mov w2, w16
    bl topas_mpi_enter_extra
    mov x16, x0
    add x9, sp, #VECTORS
    ldp q0, q1, [x9, #0]
    ldp q2, q3, [x9, #32]
    ldp q4, q5, [x9, #64]
    ldp q6, q7, [x9, #96]
    ldp x0, x1, [sp, #(ARGUMENTS + 0)]
    ldp x2, x3, [sp, #(ARGUMENTS + 16)]
    ldp x4, x5, [sp, #(ARGUMENTS + 32)]
    ldp x6, x7, [sp, #(ARGUMENTS + 48)]
    tbnz x16, #63, 1f
    blr x16
    str x0, [sp, #RESULT]
    str d0, [sp, #DOUBLE]
    mov x0, sp
    own
    adrp x2, topas_mpi_mode
    ldr w2, [x2, #:lo12:topas_mpi_mode]
    cbnz w2, 3f
    bl topas_mpi_leave
4:
    ldr x0, [sp, #RESULT]
    ldr d0, [sp, #DOUBLE]
    mov sp, x29
    ldp x29, x30, [sp], #16
    .cfi_remember_state
    .cfi_def_cfa sp, 0
    .cfi_restore x29
    .cfi_restore x30
    ret
    .cfi_restore_state
3:
    bl topas_mpi_leave_extra
    b 4b
1:
    and x16, x16, #0x7fffffffffffffff
    mov sp, x29
    ldp x29, x30, [sp], #16
    .cfi_def_cfa sp, 0
    .cfi_restore x29
    .cfi_restore x30
    br x16
2:
    // Nothing is measured: to what lies below, if that is known.
    adrp x17, topas_mpi_targets
    add x17, x17, #:lo12:topas_mpi_targets
    ldr x17, [x17, w16, uxtw #3]
    cbz x17, 0b
    and x17, x17, #0x7fffffffffffffff
    br x17
    .cfi_endproc
    .size topas_mpi_common, . - topas_mpi_common

    .section .text.topas_mpi_stubs, "ax", %progbits

// A second stub, for our own calls.
    .hidden topas_mpi_measured
    .globl topas_mpi_measured
    .type topas_mpi_measured, %function
topas_mpi_measured:
    mov w16, #MEASURED
    b topas_mpi_common
    .size topas_mpi_measured, . - topas_mpi_measured

