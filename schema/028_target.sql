-- A path is a name and a file that it stands for; and what that becomes.

ALTER TABLE request_file ADD COLUMN target TEXT NOT NULL DEFAULT '';      -- the file that path stands for, symlinks resolved
ALTER TABLE request_file ADD COLUMN result_hash TEXT NOT NULL DEFAULT ''; -- SHA-256 of what it becomes, or 'new_file' where none is left
