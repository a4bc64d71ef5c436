/* record: what a library in LD_PRELOAD (record.c) writes down of a process: each call that changes
 * files or directories, in order, when it has succeeded; and each that lets others know something.
 * Read by disk.c. */
#ifndef RECORD_H
#define RECORD_H

#include <stddef.h>
#include <stdint.h>

enum record_op {
	RECORD_CREATE = 1, /* file `name` of directory `node` is inode `other` */
	RECORD_MKDIR, /* the same for a directory */
	RECORD_LINK, /* inode other got the name */
	RECORD_UNLINK, /* of a directory too */
	RECORD_RENAME, /* name of node is now name2 of other */
	RECORD_EXCHANGE,
	RECORD_WRITE, /* data at offset of node */
	RECORD_TRUNCATE, /* node has `offset` bytes */
	RECORD_MODE, /* node has mode `offset` */
	RECORD_SYNC, /* fsync or fdatasync of node, a file or a directory */
	RECORD_SAID, /* something went to another process */
};

/* Followed by name, name2 and data, not terminated, then by what makes a record's length a multiple
 * of eight. Inodes are as stat(2) tells. */
struct record {
	uint32_t op;
	uint32_t name_length, name2_length, data_length;
	uint64_t node, other;
	int64_t offset;
};

#define RECORD_PADDED(size) (((size) + 7U) & ~(size_t)7U)

/* Environment: the file to append to. Without it nothing is recorded, and nothing flushed either:
 * who recovers a thousand disks need not wait for this one. */
#define RECORD_TO "INTERCOM_RECORD"

/* Environment: the number of the call of renameat2 that fails with EACCES, from 1. */
#define RECORD_REFUSE "INTERCOM_REFUSE_RENAME"

#endif
