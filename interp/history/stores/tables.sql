-- The tables of a store, the same in both databases; what changes here is another format.

-- A turn of a conversation says how many messages that had before it, none of which is in its
-- first entry. A run that workers are to drive has the name of its queue, until it has ended.
-- It may begin when it is due; then how often it has failed in a way that may pass, how many
-- workers died with it one after the other, and how many events it had when the last one did.
CREATE TABLE gram_runs (
    id TEXT NOT NULL PRIMARY KEY,
    status TEXT NOT NULL,
    agent TEXT NOT NULL,
    model TEXT NOT NULL,
    filename TEXT NOT NULL,
    program TEXT NOT NULL,
    parent TEXT,
    tenant TEXT,
    conversation TEXT,
    messages BIGINT,
    priority BIGINT NOT NULL,
    trace TEXT,
    created DOUBLE PRECISION NOT NULL,
    changed DOUBLE PRECISION NOT NULL,
    fence BIGINT NOT NULL,
    owner TEXT,
    leased_until DOUBLE PRECISION NOT NULL,
    input_tokens BIGINT,
    output_tokens BIGINT,
    reason TEXT,
    queue TEXT,
    due DOUBLE PRECISION NOT NULL DEFAULT 0,
    attempts BIGINT NOT NULL DEFAULT 0,
    deaths BIGINT NOT NULL DEFAULT 0,
    died_after BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX gram_runs_created ON gram_runs (created, id);
CREATE INDEX gram_runs_status ON gram_runs (status, created, id);
CREATE INDEX gram_runs_turns ON gram_runs (conversation, created, id);
CREATE INDEX gram_runs_agent ON gram_runs (agent, created, id);
CREATE INDEX gram_runs_tenant ON gram_runs (tenant, created, id);
CREATE INDEX gram_runs_queue ON gram_runs (queue, id) WHERE queue IS NOT NULL;

CREATE TABLE gram_entries (
    run TEXT NOT NULL,
    seq BIGINT NOT NULL,
    fence BIGINT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (run, seq)
);

CREATE TABLE gram_conversations (
    name TEXT NOT NULL PRIMARY KEY,
    size BIGINT NOT NULL,
    run TEXT NOT NULL,
    program TEXT NOT NULL DEFAULT '',
    changed DOUBLE PRECISION NOT NULL DEFAULT 0
);
CREATE INDEX gram_conversations_program ON gram_conversations (program, changed);
CREATE INDEX gram_conversations_changed ON gram_conversations (changed, name);

CREATE TABLE gram_messages (
    conversation TEXT NOT NULL,
    seq BIGINT NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (conversation, seq)
);
