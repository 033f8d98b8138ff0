# The way from the program to the next definition of a function, on x86-64.
#
# A stub loads the number of its symbol and comes here. Words of arguments are kept in a frame
# (see entry.rs), `topas_mpi_enter` says what to call, with the uppermost bit set if `topas_mpi_leave` does
# not want to know of the end. Nested calls jump on and leave no trace. What a pointer may lead to begins with a
# landing pad (endbr64).

.macro stub name, number
    .weak \name
    .type \name, @function
\name:
    endbr64
    movl $\number, %eax
    jmp topas_mpi_common
    .size \name, . - \name
.endm

# Of a function with further arguments of any kind: %al tells how many vector registers hold some.
.macro variadic name, number
    .weak \name
    .type \name, @function
\name:
    endbr64
    movl %eax, %r10d
    movl $\number, %eax
    jmp topas_mpi_variadic
    .size \name, . - \name
.endm

# Of a function that returns a floating point number.
.macro floating name, number
    .weak \name
    .type \name, @function
\name:
    endbr64
    movl $\number, %eax
    jmp topas_mpi_floating
    .size \name, . - \name
.endm

    .section .tbss, "awT", @nobits
    .balign 64
    .globl topas_mpi_thread
    .hidden topas_mpi_thread
    .type topas_mpi_thread, @object
    .size topas_mpi_thread, 128
topas_mpi_thread:
    .zero 128

    .section .text.topas_mpi_common, "ax", @progbits
    .hidden topas_mpi_enter
    .hidden topas_mpi_enter_extra
    .hidden topas_mpi_leave
    .hidden topas_mpi_leave_extra

# The variables of this thread, as a second argument.
.macro own
    movq topas_mpi_thread@gottpoff(%rip), %rsi
    addq %fs:0, %rsi
.endm

# Makes a frame with the words of the registers, and the arguments of `topas_mpi_enter`.
.macro keep
    subq $FRAME+8, %rsp
    .cfi_adjust_cfa_offset FRAME+8
    movq %rdi, ARGUMENTS+0(%rsp)
    movq %rsi, ARGUMENTS+8(%rsp)
    movq %rdx, ARGUMENTS+16(%rsp)
    movq %rcx, ARGUMENTS+24(%rsp)
    movq %r8, ARGUMENTS+32(%rsp)
    movq %r9, ARGUMENTS+40(%rsp)
    movq %rsp, %rdi
    own
    movl %eax, %edx
.endm

.macro bring
    movq ARGUMENTS+0(%rsp), %rdi
    movq ARGUMENTS+8(%rsp), %rsi
    movq ARGUMENTS+16(%rsp), %rdx
    movq ARGUMENTS+24(%rsp), %rcx
    movq ARGUMENTS+32(%rsp), %r8
    movq ARGUMENTS+40(%rsp), %r9
.endm

.macro drop
    addq $FRAME+8, %rsp
    .cfi_adjust_cfa_offset -(FRAME+8)
.endm

# To what lies below, if nothing is measured and that is known. What was looked for while something was
# measured, as by the parent of this process, may have the uppermost bit set: see below.rs.
.macro pass_if_off label
    testb $OFF, topas_mpi_mode(%rip)
    je \label
    leaq topas_mpi_targets(%rip), %r11
    movq (%r11,%rax,8), %r11
    testq %r11, %r11
    jg 9f
    je \label
    btrq $63, %r11
9:
.endm

# Tells of the end of a call: by the short way while nothing is switched on.
.macro tell
    movq %rsp, %rdi
    own
    cmpl $0, topas_mpi_mode(%rip)
    jne 5f
    call topas_mpi_leave
6:
.endm

# Where the short way of `tell` is left.
.macro tell_extra
5:
    call topas_mpi_leave_extra
    jmp 6b
.endm

# Jumps to a function of whose end nobody wants to hear.
.macro leap
    btrq $63, %rax
    drop
    jmp *%rax
.endm

# Calls what `topas_mpi_enter` returned, and tells of the end, or jumps there. `floating` is 1 if a floating
# point number may come back.
.macro pass_on floating
    bring
    testq %rax, %rax
    js 4f
    call *%rax
    movq %rax, RESULT(%rsp)
    .if \floating
    movsd %xmm0, DOUBLE(%rsp)
    .endif
    tell
    movq RESULT(%rsp), %rax
    .if \floating
    movsd DOUBLE(%rsp), %xmm0
    .endif
    .cfi_remember_state
    drop
    ret
    .cfi_restore_state
    .cfi_remember_state
4:
    leap
    .cfi_restore_state
    tell_extra
.endm

    .balign 64
    .type topas_mpi_common, @function
topas_mpi_common:
    .cfi_startproc
    cmpl $0, topas_mpi_mode(%rip)
    jne 2f
    keep
    call topas_mpi_enter
1:
    pass_on 0
2:
    .cfi_adjust_cfa_offset -(FRAME+8)
    pass_if_off 3f
    jmp *%r11
3:
    keep
    # Call paths begin with the frame pointer of the caller.
    movq %rbp, FRAME(%rsp)
    call topas_mpi_enter_extra
    jmp 1b
    .cfi_endproc
    .size topas_mpi_common, . - topas_mpi_common

    .type topas_mpi_floating, @function
topas_mpi_floating:
    .cfi_startproc
    pass_if_off 0f
    jmp *%r11
0:
    keep
    movq %rbp, FRAME(%rsp)
    call topas_mpi_enter_extra
    pass_on 1
    .cfi_endproc
    .size topas_mpi_floating, . - topas_mpi_floating

    .type topas_mpi_variadic, @function
topas_mpi_variadic:
    .cfi_startproc
    pass_if_off 0f
    movl %r10d, %eax
    jmp *%r11
0:
    keep
    movq %rbp, FRAME(%rsp)
    movq %r10, VECTORS+128(%rsp)
    movaps %xmm0, VECTORS+0(%rsp)
    movaps %xmm1, VECTORS+16(%rsp)
    movaps %xmm2, VECTORS+32(%rsp)
    movaps %xmm3, VECTORS+48(%rsp)
    movaps %xmm4, VECTORS+64(%rsp)
    movaps %xmm5, VECTORS+80(%rsp)
    movaps %xmm6, VECTORS+96(%rsp)
    movaps %xmm7, VECTORS+112(%rsp)
    call topas_mpi_enter_extra
    movq %rax, %r11
    movq VECTORS+128(%rsp), %rax
    movaps VECTORS+0(%rsp), %xmm0
    movaps VECTORS+16(%rsp), %xmm1
    movaps VECTORS+32(%rsp), %xmm2
    movaps VECTORS+48(%rsp), %xmm3
    movaps VECTORS+64(%rsp), %xmm4
    movaps VECTORS+80(%rsp), %xmm5
    movaps VECTORS+96(%rsp), %xmm6
    movaps VECTORS+112(%rsp), %xmm7
    bring
    testq %r11, %r11
    js 1f
    call *%r11
    movq %rax, RESULT(%rsp)
    tell
    movq RESULT(%rsp), %rax
    .cfi_remember_state
    drop
    ret
    .cfi_restore_state
    tell_extra
    .cfi_remember_state
1:
    btrq $63, %r11
    drop
    jmp *%r11
    .cfi_restore_state
    .cfi_endproc
    .size topas_mpi_variadic, . - topas_mpi_variadic

# Rust's division of 128 bits was compiled without a landing pad, and is called by its address. The
# linker puts this in front of it (--wrap).
    .section .text.topas_mpi_udivti3, "ax", @progbits
    .hidden __wrap___udivti3
    .globl __wrap___udivti3
    .type __wrap___udivti3, @function
__wrap___udivti3:
    endbr64
    jmp __real___udivti3
    .size __wrap___udivti3, . - __wrap___udivti3

    .section .text.topas_mpi_stubs, "ax", @progbits

# A second stub, for our own calls.
    .hidden topas_mpi_measured
    .globl topas_mpi_measured
    .type topas_mpi_measured, @function
topas_mpi_measured:
    endbr64
    movl $MEASURED, %eax
    jmp topas_mpi_common
    .size topas_mpi_measured, . - topas_mpi_measured

