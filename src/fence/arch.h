/* arch: the architecture whose system calls the filters of seccomp know; undefined on others. */
#ifndef ARCH_H
#define ARCH_H

#include <linux/audit.h>

#if defined(__x86_64__)
#define OUR_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OUR_ARCH AUDIT_ARCH_AARCH64
#endif

enum { X32_BIT = 0x40000000 }; /* of the calls of another ABI of x86-64, which have other numbers */

#endif
