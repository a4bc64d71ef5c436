/* record: what a library in LD_PRELOAD (record.c) records of a process: each successful call that
 * changes files or directories, in order; and each that tells another process something. disk.c
 * reads it. */
#ifndef RECORD_H
#define RECORD_H

#include <stddef.h>
#include <stdint.h>

enum record_op {
	RECORD_CREATE = 1, /* file `name` of directory `node` is inode `other` */
	RECORD_MKDIR, /* the same for a directory */
	RECORD_LINK, /* inode other gets the name */
	RECORD_UNLINK, /* also of a directory */
	RECORD_RENAME, /* name of node becomes name2 of other */
	RECORD_EXCHANGE,
	RECORD_WRITE, /* data at offset of node */
	RECORD_TRUNCATE, /* node now has `offset` bytes */
	RECORD_MODE, /* node now has mode `offset` */
	RECORD_SYNC, /* fsync or fdatasync of node, a file or a directory; 0: syncfs, of all */
	RECORD_SAID, /* something went to another process */
};

/* Followed by name, name2 and data, not terminated, then by padding to a multiple of eight bytes.
 * Inodes are those of stat(2). */
struct record {
	uint32_t op;
	uint32_t name_length, name2_length, data_length;
	uint64_t node, other;
	int64_t offset;
};

#define RECORD_PADDED(size) (((size) + 7U) & ~(size_t)7U)

/* Environment: the file to append to. Without it nothing is recorded, and nothing flushed either:
 * recovering a thousand disks need not wait for this one. */
#define RECORD_TO "INTERCOM_RECORD"

/* Environment: which call of renameat2, counted from 1, fails with EACCES. */
#define RECORD_REFUSE "INTERCOM_REFUSE_RENAME"

#endif
