# What asks the loader for names: the words and who asks go to a function of ours, which tells what to jump
# to, so that the loader sees who asked, or what the answer is.

.macro asks name, decide
    .hidden \decide
    .weak \name
    .type \name, @function
\name:
    .cfi_startproc
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    pushq %rdx
    .cfi_adjust_cfa_offset 8
    movq %rdx, %rcx
    movq 24(%rsp), %rdx
    call \decide
    movq %rdx, %rcx
    popq %rdx
    .cfi_adjust_cfa_offset -8
    popq %rsi
    .cfi_adjust_cfa_offset -8
    popq %rdi
    .cfi_adjust_cfa_offset -8
    testq %rax, %rax
    je 1f
    jmp *%rax
1:
    movq %rcx, %rax
    ret
    .cfi_endproc
    .size \name, . - \name
.endm

    .section .text.topas_mpi_stubs, "ax", @progbits
asks dlsym, topas_mpi_asks
asks dlvsym, topas_mpi_asks_version
asks dlopen, topas_mpi_opens
