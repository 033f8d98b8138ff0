// What asks the loader for names, on AArch64; see lookup_x86_64.s.

.macro asks name, decide
    .hidden \decide
    .weak \name
    .type \name, %function
\name:
    .cfi_startproc
    stp x29, x30, [sp, #-48]!
    .cfi_def_cfa_offset 48
    .cfi_offset x29, -48
    .cfi_offset x30, -40
    stp x0, x1, [sp, #16]
    str x2, [sp, #32]
    mov x3, x2
    mov x2, x30
    bl \decide
    mov x16, x0
    mov x17, x1
    ldp x0, x1, [sp, #16]
    ldr x2, [sp, #32]
    ldp x29, x30, [sp], #48
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    cbz x16, 1f
    br x16
1:
    mov x0, x17
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    .section .text.topas_mpi_stubs, "ax", %progbits
asks dlsym, topas_mpi_asks
asks dlvsym, topas_mpi_asks_version
asks dlopen, topas_mpi_opens
