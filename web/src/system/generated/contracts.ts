// Generated from src/callboard/contracts by `make gen`. Do not edit.

export const ACTION_OUTCOMES = [
  'pending',
  'approved',
  'rejected',
  'answered',
  'expired',
  'withdrawn',
  'unknown',
] as const
export type ActionOutcome = (typeof ACTION_OUTCOMES)[number]

export const ACTION_TYPES = [
  'tool_approval',
  'plan_decision',
  'teammate_plan_decision',
  'structured_input',
  'clarification',
  'permission_grant',
  'delegated_permission',
  'credential_request',
  'artifact_review',
] as const
export type ActionType = (typeof ACTION_TYPES)[number]

export const ACTOR_KINDS = [
  'person',
  'agent',
  'policy',
  'schedule',
  'runtime',
] as const
export type ActorKind = (typeof ACTOR_KINDS)[number]

export const AGENT_KINDS = [
  'main',
  'subagent',
  'remote',
  'background',
  'human',
] as const
export type AgentKind = (typeof AGENT_KINDS)[number]

export const APPROVAL_SCOPES = [
  'once',
  'session',
  'workspace',
] as const
export type ApprovalScope = (typeof APPROVAL_SCOPES)[number]

export const ATTENTIONS = [
  'none',
  'needs_input',
  'failed',
] as const
export type Attention = (typeof ATTENTIONS)[number]

export const AUTHORITIES = [
  'person',
  'anyone',
] as const
export type Authority = (typeof AUTHORITIES)[number]

export const CHECK_NAMES = [
  'hooks',
  'tools',
  'policy',
  'mode',
  'paths',
  'rules',
  'approval',
  'sandbox',
] as const
export type CheckName = (typeof CHECK_NAMES)[number]

export const CODES = [
  'invalid_input',
  'unauthenticated',
  'forbidden_origin',
  'confirmation_required',
  'unknown_route',
  'too_large',
  'unknown_command',
  'unknown_workspace',
  'unknown_session',
  'unknown_thread',
  'unknown_turn',
  'unknown_action',
  'unknown_blob',
  'unknown_rule',
  'unknown_agent',
  'unknown_task',
  'unknown_job',
  'unknown_handoff',
  'unknown_review',
  'unknown_run',
  'unknown_artifact',
  'unknown_export',
  'unknown_secret',
  'unknown_server',
  'unknown_process',
  'unknown_model',
  'idempotency_conflict',
  'thread_busy',
  'thread_not_paused',
  'nothing_running',
  'turn_not_queued',
  'turn_already_ended',
  'turn_id_used',
  'decision_not_offered',
  'scope_not_offered',
  'session_archived',
  'session_imported',
  'not_authorised',
  'artifact_conflict',
  'artifact_deleted',
  'trust_changed',
  'nothing_to_trust',
  'nothing_to_compact',
  'context_missing',
  'images_unsupported',
  'subagent_spawns',
  'subagents_do_not_talk',
  'delegate_target_denied',
  'not_your_child',
  'not_yours',
  'no_edge',
  'ownership_not_allowed',
  'agent_to_itself',
  'empty_message',
  'message_too_large',
  'handoff_not_waiting',
  'review_judged',
  'review_not_judged',
  'review_failed',
  'task_id_used',
  'task_not_ready',
  'task_running',
  'task_not_running',
  'task_paused',
  'task_not_paused',
  'task_of_job',
  'job_item_done',
  'capability_missing',
  'agent_exists',
  'edge_exists',
  'worktree_failed',
  'merge_failed',
  'conflict',
  'fenced',
  'read_only',
  'store_locked',
  'store_unusable',
  'chain_broken',
  'blob_damaged',
  'rows_damaged',
  'facts_unreadable',
  'answer_unreadable',
  'gap',
  'store_full',
  'store_exists',
  'tool_unknown',
  'tool_not_listed',
  'tool_arguments',
  'policy_denied',
  'hook_denied',
  'hook_failed',
  'mode_denied',
  'path_denied',
  'rule_denied',
  'person_denied',
  'nobody_there',
  'approval_expired',
  'one_call_at_a_time',
  'file_changed',
  'tool_failed',
  'tool_timeout',
  'resource_limit',
  'process_unavailable',
  'server_unavailable',
  'server_failed',
  'untrusted',
  'secret_missing',
  'secret_store_unavailable',
  'unsupported_media',
  'transcript_unreadable',
  'nothing_to_import',
  'session_driven',
  'model_unconfigured',
  'model_auth',
  'model_rate_limited',
  'model_quota',
  'model_unavailable',
  'model_refused_request',
  'model_context_full',
  'model_cut_stream',
  'model_garbled',
  'model_timeout',
  'agent_mode_unavailable',
  'max_iters',
  'no_progress',
  'bad_scenario',
  'bad_recording',
  'bad_definition',
  'bad_settings',
  'no_folder',
  'folder_too_broad',
  'not_installed',
  'unreachable',
  'remote_unavailable',
  'remote_refused',
  'internal',
] as const
export type Code = (typeof CODES)[number]

export const DECISIONS = [
  'approve',
  'reject',
  'answer',
] as const
export type Decision = (typeof DECISIONS)[number]

export const INTERRUPT_CAUSES = [
  'person',
  'crash',
  'lost',
  'replaced',
  'shutdown',
  'cancelled',
  'closed',
  'storage',
] as const
export type InterruptCause = (typeof INTERRUPT_CAUSES)[number]

export const MODES = [
  'chat',
  'auto',
] as const
export type Mode = (typeof MODES)[number]

export const PART_STATES = [
  'streaming',
  'final',
  'interrupted',
] as const
export type PartState = (typeof PART_STATES)[number]

export const PAUSE_CAUSES = [
  'recovered',
  'failed',
  'no_progress',
  'unread',
] as const
export type PauseCause = (typeof PAUSE_CAUSES)[number]

export const PERMISSION_MODES = [
  'ask',
  'edits',
  'planning',
  'full',
] as const
export type PermissionMode = (typeof PERMISSION_MODES)[number]

export const REASON_CODES = [
  'protected',
  'makes_team',
  'for_a_person',
  'no_sandbox',
  'unkept',
  'rule_session',
  'rule_workspace',
  'rule_folder_settings',
  'rule_user_settings',
  'server_tool',
  'spends',
  'destroys',
  'changed_files',
  'changed_command',
  'changeable',
  'runs_outside',
  'own_settings',
  'own_mode',
  'leaves',
  'remote_asks',
  'remote_authorises',
  'agent_asks',
  'not_listed',
  'listed_are',
  'tool_unknown',
  'not_loaded',
  'left_out',
  'not_of_server',
  'server_gone',
  'lacks_power',
  'only_reads',
  'only_reads_server',
  'unconfinable',
  'unconfinable_merge',
  'unconfinable_command',
  'no_patch_held',
  'reader_held',
  'globs_held',
  'no_patch_unheld',
  'reader_unheld',
  'globs_unheld',
  'mode_only',
  'planning',
  'planning_unheld',
  'planning_documents',
  'planning_commands',
  'planning_merge',
  'planning_changes',
  'outside_folder',
  'outside_globs',
  'through_parent',
  'null_byte',
  'control_characters',
  'not_unicode',
  'long_path',
  'long_name',
  'kept_by_callboard',
  'names_folder',
  'kept_private',
  'not_regular',
  'named_pipe',
  'character_device',
  'block_device',
  'socket',
  'link',
  'the_folder',
  'in_protected',
  'rule_applied',
  'rule_denies_session',
  'rule_denies_workspace',
  'rule_denies_folder_settings',
  'rule_denies_user_settings',
  'rule_outdated',
  'rule_allows_session',
  'rule_allows_workspace',
  'rule_allows_folder_settings',
  'rule_allows_user_settings',
  'runs_itself',
  'approved_with',
  'changes_nothing',
  'mode_applies',
  'hook_denied',
  'hook_denied_because',
  'hook_asks',
  'hook_asks_because',
  'hook_rewrote',
  'hook_rewrote_because',
  'hook_failed',
  'hook_rewrites_own',
  'hooks_changed',
  'hooks_unasked',
] as const
export type ReasonCode = (typeof REASON_CODES)[number]

export const RISKS = [
  'none',
  'low',
  'medium',
  'high',
] as const
export type Risk = (typeof RISKS)[number]

export const RULE_SCOPES = [
  'session',
  'workspace',
  'folder_settings',
  'user_settings',
] as const
export type RuleScope = (typeof RULE_SCOPES)[number]

export const RUNTIME_STATUSES = [
  'idle',
  'accepted',
  'routing',
  'preparing',
  'streaming',
  'blocked',
  'retrying',
  'failed',
  'done',
] as const
export type RuntimeStatus = (typeof RUNTIME_STATUSES)[number]

export const SANDBOX_LEVELS = [
  'none',
  'paths',
  'bubblewrap',
] as const
export type SandboxLevel = (typeof SANDBOX_LEVELS)[number]

export const SERIALS = [
  'session',
  'workspace',
  'store',
] as const
export type Serial = (typeof SERIALS)[number]

export const SESSION_STATES = [
  'idle',
  'queued',
  'running',
  'waiting',
  'interrupted',
  'failed',
  'lost',
  'paused',
  'damaged',
] as const
export type SessionState = (typeof SESSION_STATES)[number]

export const SETTINGS_PROBLEM_CODES = [
  'file_unreadable',
  'file_denied',
  'file_is_folder',
  'file_too_large',
  'file_unwritable',
  'not_utf8',
  'not_toml',
  'too_deep',
  'edit_required',
  'unknown_key',
  'misplaced_key',
  'missing_key',
  'not_accepted',
  'wrong_type',
  'wrong_type_inside',
  'too_small',
  'not_above',
  'too_large',
  'too_short',
  'too_long',
  'invalid_name',
  'invalid_url',
  'invalid_value',
  'duplicate_name',
  'matcher_syntax',
  'matcher_empty_pattern',
  'matcher_server_pattern',
  'matcher_glob',
  'loader_variable',
  'secret_not_stored',
  'key_unset',
  'model_unconfigured',
  'model_name_missing',
  'endpoint_missing',
] as const
export type SettingsProblemCode = (typeof SETTINGS_PROBLEM_CODES)[number]

export const STEER_REJECTIONS = [
  'turn_completed',
  'turn_failed',
  'turn_interrupted',
] as const
export type SteerRejection = (typeof STEER_REJECTIONS)[number]

export const STATUS_DETAILS = [
  'ready',
  'submitted',
  'asking_model',
  'reasoning',
  'answering',
  'calling_tool',
  'running_tool',
  'waiting_approval',
  'waiting_retry',
  'stopping',
  'paused',
  'completed',
  'failed',
  'interrupted',
  'lost',
] as const
export type StatusDetail = (typeof STATUS_DETAILS)[number]

export const STOP_REASONS = [
  'stop',
  'tool_calls',
  'length',
  'content_filter',
  'unknown',
] as const
export type StopReason = (typeof STOP_REASONS)[number]

export const TOOL_STATES = [
  'input-streaming',
  'input-available',
  'running',
  'progress',
  'output-available',
  'output-error',
  'cancelled',
] as const
export type ToolState = (typeof TOOL_STATES)[number]

export const TURN_STATES = [
  'queued',
  'running',
  'waiting',
  'completed',
  'failed',
  'interrupted',
  'removed',
] as const
export type TurnState = (typeof TURN_STATES)[number]

export const VERDICTS = [
  'allow',
  'ask',
  'deny',
] as const
export type Verdict = (typeof VERDICTS)[number]

export const WHEN_BUSIES = [
  'queue',
  'interrupt',
  'refuse',
] as const
export type WhenBusy = (typeof WHEN_BUSIES)[number]

export const REQUESTED_PERMISSION_CODES = [
  'rule',
  'server_starts',
  'server_reaches',
  'hook_starts',
  'program_runs',
  'permission_mode',
  'network',
  'limit',
  'agent_mode',
] as const
export type RequestedPermissionCode = (typeof REQUESTED_PERMISSION_CODES)[number]

/**
 * The final decision.
 *
 * `first` is False if an earlier answer, the expiry or a withdrawal came first.
 */
export interface ActionAnswered {
  readonly sessionId: string
  readonly actionId: string
  readonly outcome: string
  readonly first: boolean
  readonly sequence: number
}

/** The action expired without an answer, which denies it. */
export interface ActionExpired {
}

/**
 * The audit line of an action.
 *
 * `settled_at` is the time of its outcome, 0 while it is pending. An accepted plan is carried out
 * in `permission_mode` by the turn `next_turn_id`.
 */
export interface ActionPart {
  readonly kind: 'action_required'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly actionId: string
  readonly actionType: ActionType
  readonly tool: string
  readonly prompt: string
  readonly outcome: ActionOutcome
  readonly answeredScope?: ApprovalScope | null
  readonly reason?: string
  readonly answer?: Text
  readonly actor?: string
  readonly settledAt?: number
  readonly permissionMode?: 'ask' | 'edits' | 'full' | null
  readonly nextTurnId?: string
}

/**
 * A call or a question waits for a decision until `expires_at` (microseconds since the epoch, 0 for no end).
 *
 * - `matchers`: rules that the wider scopes would add. `policy`: permission mode of the
 * run.
 * - `sandbox`, `network`: confinement of the call if it ran now. `commands`: number of simple
 * commands in a shell text, 0 for none or an unreadable text.
 * - `artifact_version` of `artifact_id`: the version to review.
 * - `hooked`: results of hooks, with codes in `hook_reasons`. `asked`: the model's arguments, if a
 * hook replaced them by `arguments`.
 * - `modes`: permission modes for an accepted plan, the default first.
 * - `reasons`: why approval is required, apart from the mode and hooks. None in facts without
 * codes.
 */
export interface ActionRequired {
  readonly actionType: ActionType
  readonly prompt: string
  readonly decisions: readonly Decision[]
  readonly scopes: readonly ApprovalScope[]
  readonly risk: Risk
  readonly tool?: string
  readonly arguments?: Text
  readonly preview?: Text | null
  readonly matchers?: Readonly<Record<string, string>>
  readonly binding?: Binding | null
  readonly expiresAt?: number
  readonly policy?: string
  readonly sandbox?: SandboxLevel | null
  readonly network?: boolean
  readonly artifactId?: string
  readonly artifactVersion?: number
  readonly hooked?: string
  readonly asked?: Text | null
  readonly commands?: number
  readonly modes?: readonly ('ask' | 'edits' | 'full')[]
  readonly reasons?: readonly Reason[] | null
  readonly hookReasons?: readonly Reason[]
}

/**
 * The first decision on an action, which is final.
 *
 * `answer` is the answer to a question. An accepted plan is carried out in `permission_mode` by
 * the turn `next_turn`, if a turn follows.
 */
export interface ActionResolved {
  readonly decision: Decision
  readonly scope?: ApprovalScope
  readonly reason?: string
  readonly answer?: Text
  readonly permissionMode?: 'ask' | 'edits' | 'full' | null
  readonly nextTurn?: string
}

/**
 * A pending action.
 *
 * It leaves the panel once it is resolved; the conversation keeps an audit line.
 *
 * - `agent_name`: the requesting agent. `parent_agent_id`: its parent, for a child.
 * - `prompt`: the question in English. A client can format its own from `tool`, `change`, `policy`
 * (the run's permission mode), `reasons` and `hook_reasons`, which are absent in older sessions.
 * - `expires_at`: microseconds since the epoch, 0 for never. `matchers`: rules that the wider
 * scopes would add.
 * - `sandbox`, `network`: confinement of the call; None if unknown. `commands`: number of simple
 * commands in a shell text, 0 for none or an unreadable text.
 * - `artifact_version` of `artifact_id`: the version to review.
 * - `hooked`: results of hooks. `asked`: the model's arguments, if a hook replaced them.
 * - `modes`: permission modes for an accepted plan, the default first.
 */
export interface ActionRow {
  readonly kind: 'action'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly actionId: string
  readonly actionType: ActionType
  readonly turnId: string
  readonly threadId: string
  readonly agentId: string
  readonly agentName?: string
  readonly parentAgentId?: string
  readonly toolCallId?: string
  readonly tool?: string
  readonly prompt: string
  readonly arguments?: Text
  readonly preview?: Text | null
  readonly change?: RequestedChange | null
  readonly risk?: Risk
  readonly decisions: readonly Decision[]
  readonly scopes?: readonly ApprovalScope[]
  readonly matchers?: Readonly<Record<string, string>>
  readonly policy?: string
  readonly sandbox?: SandboxLevel | null
  readonly network?: boolean
  readonly requiredAt: number
  readonly expiresAt?: number
  readonly artifactId?: string
  readonly artifactVersion?: number
  readonly hooked?: string
  readonly hookReasons?: readonly Reason[]
  readonly asked?: Text | null
  readonly commands?: number
  readonly modes?: readonly ('ask' | 'edits' | 'full')[]
  readonly reasons?: readonly Reason[] | null
}

/** The turn ended before an answer, so the action cannot be answered any more. */
export interface ActionWithdrawn {
  readonly reason?: string
}

/** The cause of a fact. `id` is the person's client, the agent or the policy; empty if the kind is enough. */
export interface Actor {
  readonly kind: ActorKind
  readonly id?: string
}

/**
 * Add an agent of the folder to the session.
 *
 * The agent gets a thread. An agent with a schedule sleeps until its next time. Adding an agent of the session again
 * changes nothing. Subagents are spawned instead.
 */
export interface AddAgent {
  readonly sessionId: string
  readonly agent: string
  readonly reason?: string
}

/**
 * Add a rule to a session or, without a session, to the workspace.
 *
 * `expires_at` ends it; without it the rule has no end.
 */
export interface AddRule {
  readonly matcher: string
  readonly verdict: Verdict
  readonly workspaceId?: string | null
  readonly sessionId?: string | null
  readonly expiresAt?: number
  readonly reason?: string
}

/** The agent's thread. `added` is False if the agent was in the session before. */
export interface AgentAdded {
  readonly sessionId: string
  readonly agentId: string
  readonly threadId: string
  readonly added: boolean
  readonly sequence: number
}

/**
 * An external agent was started, or a remote agent was reached, with the conversation `provider_session_id`.
 *
 * `resumed`: it continues an earlier conversation of this thread. `card` is a remote agent's Agent
 * Card as JSON. `mode` and `model` are an external agent's own names, empty if it reports none.
 */
export interface AgentConnected {
  readonly providerSessionId: string
  readonly name: string
  readonly version?: string
  readonly resumed?: boolean
  readonly card?: Text
  readonly mode?: string
  readonly model?: string
}

/**
 * The agent in the scope defined another agent for this session, with a person's approval.
 *
 * `definition` is a `contracts.ports.agents.Definition` as JSON.
 */
export interface AgentDefined {
  readonly name: string
  readonly definition: Text
}

/**
 * An external agent ended, or a remote agent is unreachable.
 *
 * Its conversation may be resumed by `provider_session_id`.
 */
export interface AgentDisconnected {
  readonly providerSessionId: string
  readonly reason?: string
}

/**
 * The agents.
 *
 * `problems` is the number of invalid agent files; `callboard agents` explains them.
 */
export interface AgentList {
  readonly sessionId: string
  readonly agents: readonly DefinedAgent[]
  readonly problems: number
  readonly sequence: number
}

/**
 * An external agent changed its mode or model, by its own names.
 *
 * `allowed` is False for a mode with more permissions than the permission mode: Callboard resets
 * it, or ends the agent.
 */
export interface AgentModeChanged {
  readonly mode: string
  readonly model?: string
  readonly allowed?: boolean
}

/**
 * An agent; the key is its id. Times are in microseconds since the epoch.
 *
 * - `latest_turn`, `latest_turn_status`: its newest turn. `inbox`: number of items for its next
 * turn. `blocked_on`: the pending action that it waits for. `paused`: why it is paused;
 * `resume_thread` resumes it.
 * - `spawn_reason`, `objective`, `result`: of a child. Texts are limited to 400 characters; its
 * transcript has all. `plain_text`: its result was not finalized.
 * - `activity`, `tool`, `last_activity`: evidence of a stall. `stalled_since`: set if the runtime
 * stopped it for no progress.
 * - `queue_position`: its position when it began to wait. `unmerged`: its worktree has unmerged
 * changes.
 * - `epoch`: a working state is valid while it is alive.
 */
export interface AgentRow {
  readonly kind: 'agent'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly agentId: string
  readonly name: string
  readonly threadId: string
  readonly agentKind: AgentKind
  readonly role: 'custom' | 'executor' | 'planner' | 'researcher' | 'reviewer' | 'writer'
  readonly state: 'closed' | 'completed' | 'failed' | 'idle' | 'killed' | 'lost' | 'needs_input' | 'plan_ready' | 'running' | 'spawning' | 'unknown' | 'waiting'
  readonly definition?: string
  readonly description?: string
  readonly color?: string
  readonly model?: string
  readonly provider?: string
  readonly parentThreadId?: string
  readonly parentAgentId?: string
  readonly parentRunId?: string
  readonly taskId?: string
  readonly spawnReason?: string
  readonly objective?: Text
  readonly isolation?: 'read_only' | 'shared' | 'worktree'
  readonly workGlobs?: readonly string[]
  readonly worktree?: string
  readonly branch?: string
  readonly unmerged?: boolean
  readonly permissionMode?: string
  readonly policy?: readonly ('Delegate' | 'Finalize' | 'Patch')[]
  readonly connection?: 'connected' | 'disconnected' | 'idle'
  readonly providerSessionId?: string
  readonly providerMode?: string
  readonly providerModel?: string
  readonly lastActivity?: number
  readonly activity?: StatusDetail
  readonly tool?: string
  readonly latestTurn?: string
  readonly latestTurnStatus?: string
  readonly currentRun?: string
  readonly queuedTurns?: number
  readonly inbox?: number
  readonly blockedOn?: string
  readonly queueReason?: 'parallel_budget' | 'provider_budget' | 'worktree' | null
  readonly queuePosition?: number
  readonly stalledSince?: number
  readonly degraded?: readonly ('lineage_unavailable' | 'permission_blocked' | 'remote_unavailable' | 'snapshot_stale' | 'solo_run')[]
  readonly usage?: WorkUsage
  readonly result?: Text
  readonly plainText?: boolean
  readonly background?: BackgroundWork | null
  readonly remote?: RemoteWork | null
  readonly paused?: PauseCause | null
  readonly epoch?: number
}

/**
 * A background agent sleeps until `wake_at` (microseconds since the epoch, 0 for never) or a fact of a type in `wake_on`.
 *
 * `schedule` is its definition's, such as `every 1800 s` or a cron line. The scope's task is the
 * task of its runs. `permission_mode` is the widest mode of a run without a person: the session's
 * when the agent joined.
 */
export interface AgentSlept {
  readonly reason: 'ended' | 'joined' | 'ran' | 'resumed' | 'skipped'
  readonly wakeAt?: number
  readonly wakeOn?: readonly string[]
  readonly schedule?: string
  readonly permissionMode?: PermissionMode
}

/**
 * A background agent woke for the turn in the scope.
 *
 * `due` is the scheduled time, 0 for none. `cause` is the id of the event that woke it, empty for
 * none.
 */
export interface AgentWoke {
  readonly reason: 'fact' | 'inbox' | 'person' | 'schedule'
  readonly due?: number
  readonly cause?: string
}

export type AnyPart = TextPart | ReasoningPart | ToolPart | ActionPart | SteerPart | NoticePart | PlanPart | NotificationPart | HandoffPart | RemoteStatusPart | ContextPart | ArtifactPart | ErrorPart

export type AnyRow = SessionRow | SessionCard | WorkspaceRow | TurnRow | TextPart | ReasoningPart | ToolPart | ActionPart | SteerPart | NoticePart | PlanPart | NotificationPart | HandoffPart | RemoteStatusPart | ContextPart | ArtifactPart | ErrorPart | ActionRow | QueueRow | StatusRow | ArtifactRow | ArtifactVersionRow | ContextRow | ProcessRow | TeamRow | AgentRow | EdgeRow | TaskRow | HandoffRow | NotificationRow | ReviewRow | MessageRow | RunRow

/** Report progress of a task: a phase, counters, a summary, refs to outputs. */
export interface AppendTaskProgress {
  readonly sessionId: string
  readonly taskId: string
  readonly reason?: string
  readonly phase?: string | null
  readonly counters?: Readonly<Record<string, number>> | null
  readonly progress?: string | null
  readonly refs?: readonly Ref[] | null
}

/**
 * Append to a field of a row, a `Text`.
 *
 * `offset` is the length of the field before, in code points: a client with a longer field has
 * this piece already, one with a shorter field missed some.
 */
export interface AppendText {
  readonly op: 'append'
  readonly panel: string
  readonly key: string
  readonly field: string
  readonly offset: number
  readonly text: string
}

/**
 * Send the requested changes of a review to their assignees.
 *
 * `assignee` overrides the assignees.
 */
export interface ApplyReview {
  readonly sessionId: string
  readonly reviewId: string
  readonly assignee?: string | null
}

/** The state of an artifact. `version` is its newest version. */
export interface ArtifactChanged {
  readonly sessionId: string
  readonly artifactId: string
  readonly version: number
  readonly status: 'conflict' | 'deleted' | 'failed' | 'saved' | 'saving' | 'unknown'
  readonly sequence: number
}

/**
 * An artifact was created; its first version follows.
 *
 * `path` is relative to the folder, empty for an artifact without a file. `worktree` is the thread
 * of the child whose worktree has the file, empty for the session's folder. An empty `title` is
 * the file's name. `remote` is a remote agent's name for it.
 */
export interface ArtifactCreated {
  readonly artifactKind: 'binary' | 'code' | 'data' | 'document' | 'image' | 'text'
  readonly title?: string
  readonly path?: string
  readonly worktree?: string
  readonly remote?: string
}

/** An artifact was deleted; with `file` its file too. Its versions stay in the log. */
export interface ArtifactDeleted {
  readonly file?: boolean
  readonly reason?: string
}

/**
 * A unified diff.
 *
 * With `binary` a version is not text, and there is no diff. With `cut` the diff is truncated; an
 * export in the form `diff` has all of it.
 */
export interface ArtifactDiff {
  readonly sessionId: string
  readonly artifactId: string
  readonly fromVersion: number
  readonly toVersion: number
  readonly diff?: string
  readonly added?: number
  readonly removed?: number
  readonly binary?: boolean
  readonly cut?: boolean
}

/** The export can be downloaded as a file called `name`. `left_out` counts artifacts without their bytes. */
export interface ArtifactExportCompleted {
  readonly export: string
  readonly content: BlobRef
  readonly name: string
  readonly leftOut?: number
}

/** A long export has read `done` of `total` bytes. Recorded seldom. */
export interface ArtifactExportProgressed {
  readonly export: string
  readonly done: number
  readonly total: number
}

/**
 * An export of a version began.
 *
 * With `source` it is the diff from that version. `artifacts` are further artifacts in an archive;
 * with `everything` the archive has all of the session.
 */
export interface ArtifactExportStarted {
  readonly export: string
  readonly version: number
  readonly form: 'diff' | 'file' | 'html' | 'zip'
  readonly source?: number
  readonly artifacts?: readonly string[]
  readonly everything?: boolean
  readonly reason?: string
}

/**
 * An operation failed and changed nothing.
 *
 * With the code `artifact_conflict` the newest version is `current`, not `base`, and the `draft`
 * is kept. `export` is the failed export.
 */
export interface ArtifactFailed {
  readonly operation: 'delete' | 'export' | 'rollback' | 'save'
  readonly code: string
  readonly message: string
  readonly base?: number
  readonly current?: number
  readonly restores?: number
  readonly draft?: BlobRef | null
  readonly export?: string
}

/**
 * The artifacts.
 *
 * `exports` are in progress in this process. `head` is the newest sequence of the log.
 */
export interface ArtifactList {
  readonly artifacts: readonly ArtifactRow[]
  readonly exports: readonly ExportEntry[]
  readonly head: number
}

/** A version of an artifact that the turn made. */
export interface ArtifactPart {
  readonly kind: 'artifact_ref'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly artifactId: string
  readonly title: string
  readonly version: number
  readonly path?: string
  readonly added?: number
  readonly removed?: number
}

/**
 * The artifact with its versions in order, each with its content as a blob.
 *
 * `head` is the newest sequence of the log.
 */
export interface ArtifactRead {
  readonly artifact: ArtifactRow
  readonly versions: readonly VersionEntry[]
  readonly head: number
}

/** The retried work. A save has `version` and `status`, an export has `export_id` and runs in the background. */
export interface ArtifactRetried {
  readonly sessionId: string
  readonly artifactId: string
  readonly sequence: number
  readonly version?: number | null
  readonly status?: 'conflict' | 'deleted' | 'failed' | 'saved' | 'saving' | 'unknown' | null
  readonly exportId?: string | null
}

/**
 * An artifact.
 *
 * `order` is the sequence of its newest `version`. `versions` are the newest ones in order; older
 * ones are loaded on demand. `draft` is an unsaved text after a failed or conflicting save, with
 * `code` and `message`; it stays after a deletion. `worktree` is the thread of the child whose
 * worktree has the file. `agent_id` and `thread_id` are of the step that created it.
 */
export interface ArtifactRow {
  readonly kind: 'artifact'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly artifactId: string
  readonly title: string
  readonly artifactKind: 'binary' | 'code' | 'data' | 'document' | 'image' | 'text'
  readonly status: 'conflict' | 'deleted' | 'failed' | 'saved' | 'saving' | 'unknown'
  readonly path?: string
  readonly worktree?: string
  readonly version?: number
  readonly versions?: readonly VersionEntry[]
  readonly exports?: readonly ExportEntry[]
  readonly draft?: BlobRef | null
  readonly draftBase?: number
  readonly code?: string
  readonly message?: string
  readonly agentId?: string
  readonly threadId?: string
  readonly createdAt?: number
  readonly updatedAt?: number
}

/**
 * A person's change of a file is about to be written.
 *
 * `draft` is the new text, made from version `base`; None deletes the file. `restores` is the
 * version that the draft restores, 0 for none.
 */
export interface ArtifactSaveRequested {
  readonly base: number
  readonly draft?: BlobRef | null
  readonly restores?: number
  readonly reason?: string
}

/** The title or path of an artifact changed. With `dropped` its draft was discarded. */
export interface ArtifactUpdated {
  readonly title?: string
  readonly path?: string
  readonly dropped?: boolean
}

/**
 * A version was saved.
 *
 * `version` counts from 1 without a gap. `base` is the version that it was made from, 0 for none.
 * The scope has the agent's step that made it. `added` and `removed` count lines against `base`,
 * for text; they are 0 for a found file.
 */
export interface ArtifactVersionCreated {
  readonly version: number
  readonly content: BlobRef
  readonly versionOrigin: 'agent' | 'found' | 'merge' | 'person' | 'rollback'
  readonly title?: string
  readonly path?: string
  readonly worktree?: string
  readonly base?: number
  readonly restores?: number
  readonly added?: number
  readonly removed?: number
}

/** A version of an artifact, in a panel that is read by the key `artifactId.version` only. */
export interface ArtifactVersionRow {
  readonly kind: 'artifact_version'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly artifactId: string
  readonly entry: VersionEntry
}

/**
 * Content sent with the input: an `upload` by id, or an existing `blob` by hash.
 *
 * Exactly one is set. `name` is the name of a blob.
 */
export interface Attachment {
  readonly upload?: string | null
  readonly blob?: string | null
  readonly name?: string
}

/**
 * An attempt of a task.
 *
 * `number` counts from 1. Times are in microseconds since the epoch. `run_id` is its newest run,
 * empty for none.
 */
export interface AttemptRow {
  readonly runId: string
  readonly status: 'cancelled' | 'completed' | 'failed' | 'running'
  readonly detail?: string
  readonly number?: number
  readonly agentId?: string
  readonly started?: number
  readonly ended?: number
}

/**
 * The schedule of a background agent.
 *
 * Times are in microseconds since the epoch, 0 for none. `last_run` is its newest ended run.
 */
export interface BackgroundWork {
  readonly state: 'blocked' | 'completed' | 'failed' | 'paused' | 'running' | 'scheduled' | 'sleeping' | 'unknown' | 'waking'
  readonly taskId: string
  readonly schedule?: string
  readonly wakeAt?: number
  readonly wakeOn?: readonly string[]
  readonly wakeReason?: 'fact' | 'inbox' | 'person' | 'schedule' | null
  readonly wokeAt?: number
  readonly lastRun?: string
  readonly lastRunStatus?: 'cancelled' | 'completed' | 'failed' | 'running' | null
}

/**
 * The exact call that an approval covers.
 *
 * Hashes are SHA-256 in hex. `file_hash` is empty for no file and `absent` for a missing one.
 * `declared` is the hash of a server's declaration of its tool.
 */
export interface Binding {
  readonly tool: string
  readonly argumentsHash: string
  readonly folder: string
  readonly definitionHash: string
  readonly file?: string
  readonly fileHash?: string
  readonly declared?: string
}

/** A reference to a blob: `hash` is the SHA-256 of its bytes in hex, `size` is in bytes. */
export interface BlobRef {
  readonly hash: string
  readonly size: number
  readonly media?: string
}

/**
 * Cancel a job.
 *
 * Finished items stay finished, running items are stopped, waiting items do not start.
 */
export interface CancelJob {
  readonly sessionId: string
  readonly jobId: string
  readonly reason?: string
}

/**
 * Cancel the work of a child.
 *
 * The child stays and can receive more work.
 */
export interface CancelSubagent {
  readonly agent: string
  readonly reason?: string
  readonly sessionId: string
}

/**
 * Cancel a task, its subtasks and the agents that work on them.
 *
 * Finished subtasks stay finished.
 */
export interface CancelTask {
  readonly sessionId: string
  readonly taskId: string
  readonly reason?: string
}

/** A model that could be called. `excluded` explains why this run does not use it; empty if it may. */
export interface Candidate {
  readonly provider: string
  readonly model: string
  readonly excluded?: string
}

/** The channel was closed to messages. */
export interface ChannelClosed {
  readonly participants: readonly string[]
  readonly reason?: string
}

/** An agent sent a message in a channel to the inboxes of `to_threads`. `item` is its id in each inbox. */
export interface ChannelMessage {
  readonly item: string
  readonly source: string
  readonly participants: readonly string[]
  readonly toThreads: readonly string[]
  readonly message: Text
  readonly hops?: number
}

/** A channel between agents of the session was opened. */
export interface ChannelOpened {
  readonly participants: readonly string[]
  readonly subject?: string
}

/**
 * The result of one check of the gate.
 *
 * `reasons` are the codes of `detail`; empty in facts without codes, and for the words of another
 * program or a schema. `detail` is empty if the reasons of an approval replace it.
 */
export interface Check {
  readonly name: CheckName
  readonly verdict: Verdict
  readonly detail?: string
  readonly reasons?: readonly Reason[]
}

/** The child with its new status. While it stops, it has its former one. */
export interface ChildChanged {
  readonly sessionId: string
  readonly agentId: string
  readonly status: string
  readonly sequence: number
}

/** The input `started` a turn, or is `queued` after the running turn or for a slot. */
export interface ChildInputAccepted {
  readonly sessionId: string
  readonly agentId: string
  readonly threadId: string
  readonly turnId: string
  readonly status: 'queued' | 'started'
  readonly sequence: number
}

/** The result of a merge. With files in `conflict` nothing was merged. */
export interface ChildMerged {
  readonly sessionId: string
  readonly agentId: string
  readonly status: 'conflict' | 'merged' | 'nothing_to_merge'
  readonly files?: readonly string[]
  readonly conflict?: readonly string[]
  readonly sequence: number
}

/**
 * A child.
 *
 * `result` is the head of its answer; its thread has the whole. `note` explains the status, such
 * as a result in plain text that was not finalized.
 */
export interface ChildResult {
  readonly agentId: string
  readonly threadId: string
  readonly taskId: string
  readonly status: string
  readonly result?: string
  readonly usage?: WorkUsage
  readonly note?: string
}

/** The ended and the pending children. */
export interface ChildResults {
  readonly sessionId: string
  readonly ended: readonly ChildResult[]
  readonly pending: readonly ChildResult[]
  readonly timedOut: boolean
  readonly sequence: number
}

/** The child. `queue_reason` is why it waits for a slot, at `position` (from 1). */
export interface ChildSpawned {
  readonly sessionId: string
  readonly agentId: string
  readonly threadId: string
  readonly taskId: string
  readonly status: 'queued' | 'running'
  readonly queueReason?: string
  readonly position?: number
  readonly sequence: number
}

/**
 * Stop a child permanently and release its resources.
 *
 * Its transcript stays.
 */
export interface CloseSubagent {
  readonly agent: string
  readonly reason?: string
  readonly sessionId: string
}

/** A comment on a task. `by` is an agent, empty for a person. */
export interface Comment {
  readonly at: number
  readonly by: string
  readonly text: string
}

/**
 * Summarise the older part of a thread.
 *
 * The thread must be idle. Its model receives the summary in place of the older turns.
 */
export interface CompactThread {
  readonly sessionId: string
  readonly threadId?: string | null
  readonly reason?: string
}

/**
 * A compaction of the thread's facts up to and including `through` has begun.
 *
 * Facts of the turn have its result.
 */
export interface CompactionAccepted {
  readonly sessionId: string
  readonly threadId: string
  readonly turnId: string
  readonly through: number
  readonly sequence: number
}

/**
 * A summary replaced the thread's older facts in the model's context.
 *
 * The model receives `summary`, and the quoted texts `said` in order, in place of the facts up to
 * and including `through`. Those facts stay in the log. No part of a summary is an answer (UI-25).
 */
export interface CompactionCompleted {
  readonly summary: Text
  readonly through: number
  readonly tokensBefore?: number | null
  readonly tokensAfter?: number | null
  readonly said?: readonly Quote[]
}

/** The compaction failed, and the model's context is unchanged. */
export interface CompactionFailed {
  readonly code: string
  readonly message: string
}

/**
 * The model call at this step summarises the thread's facts up to and including `through`.
 *
 * `tokens` is their estimated size.
 */
export interface CompactionStarted {
  readonly cause: 'person' | 'refused' | 'window'
  readonly through: number
  readonly tokens?: number | null
}

/** Record that a task is done, with its deliverables. */
export interface CompleteTask {
  readonly sessionId: string
  readonly taskId: string
  readonly reason?: string
  readonly summary?: string
  readonly refs?: readonly Ref[]
}

/**
 * A configured model: `name` is `PROVIDER/MODEL`.
 *
 * `default` marks the model of agents that name none. `fallback` is its position among the models
 * that replace a failed one, from 1; 0 for none. `why` explains why it is not `usable`, and what to
 * do. `window` is in tokens, absent if unknown.
 */
export interface ConfiguredModel {
  readonly name: string
  readonly provider: string
  readonly model: string
  readonly kind: string
  readonly label: string
  readonly usable: boolean
  readonly images: boolean
  readonly why?: string
  readonly window?: number | null
  readonly default?: boolean
  readonly fallback?: number
  readonly address?: string
}

/** The present pins. Those in `missing` do not exist now; they stay pinned. */
export interface ContextChanged {
  readonly sessionId: string
  readonly threadId: string
  readonly pinned: readonly string[]
  readonly missing: readonly MissingRef[]
  readonly sequence: number
}

/**
 * A change of a turn's context: resolved refs, or a compaction and its result.
 *
 * A summary is not an answer and is shown on demand. `said` is the number of quoted inputs beside
 * it.
 */
export interface ContextPart {
  readonly kind: 'context_event'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly event: 'compacted' | 'compacting' | 'compaction_failed' | 'resolved'
  readonly given?: number
  readonly missing?: readonly MissingRef[]
  readonly omitted?: readonly Omission[]
  readonly cause?: 'person' | 'refused' | 'window' | null
  readonly summary?: Text
  readonly said?: number
  readonly tokensBefore?: number | null
  readonly tokensAfter?: number | null
  readonly code?: string
  readonly message?: string
}

/** A person changed the context of every future turn of the thread. `pinned` are all pins, as named. */
export interface ContextPinned {
  readonly pinned: readonly string[]
}

/**
 * The context.
 *
 * `text` is the content of the requested `ref`, absent for no ref and for binary content.
 * `summary` replaces the thread's facts up to and including `compacted`, with the quoted inputs in
 * `said`.
 */
export interface ContextRead {
  readonly sessionId: string
  readonly threadId: string
  readonly context: ContextRow
  readonly text?: Text | null
  readonly summary?: Text | null
  readonly compacted?: number
  readonly said?: readonly QuotedInput[]
  readonly head: number
}

/**
 * A ref in a turn's context: a path relative to the folder, or the id of an artifact or session.
 *
 * `content` are its bytes at that moment; later changes of the file have no effect. `tokens` is an
 * estimate, absent for none.
 */
export interface ContextRef {
  readonly ref: string
  readonly kind: 'artifact' | 'binary' | 'folder' | 'image' | 'instructions' | 'session' | 'text'
  readonly source: 'attached' | 'folder' | 'mentioned' | 'pinned'
  readonly title?: string
  readonly content?: BlobRef | null
  readonly tokens?: number | null
}

/**
 * A run's context in addition to its messages (Agent UI specification, Context, memory, and compaction).
 *
 * Recorded after `turn.started`, and again after a model request when the omissions changed.
 *
 * In tokens: `window` is the model's window, `budget` the part for the context, `used` an estimate
 * of its present size. Each is absent if unknown.
 */
export interface ContextResolved {
  readonly refs?: readonly ContextRef[]
  readonly missing?: readonly MissingRef[]
  readonly omitted?: readonly Omission[]
  readonly window?: number | null
  readonly budget?: number | null
  readonly used?: number | null
}

/**
 * The context of a thread's newest run, and the pins of every turn.
 *
 * Token counts are estimates, absent if unknown.
 */
export interface ContextRow {
  readonly kind: 'context'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly threadId: string
  readonly turnId?: string
  readonly refs?: readonly ContextRef[]
  readonly missing?: readonly MissingRef[]
  readonly omitted?: readonly Omission[]
  readonly pinned?: readonly string[]
  readonly window?: number | null
  readonly budget?: number | null
  readonly used?: number | null
}

/**
 * The usage of a call as the provider reported it; a missing value is absent, never estimated.
 *
 * `amount` is in US dollars: the provider's, or computed from the reported tokens at the `listed`
 * prices.
 */
export interface CostRecorded {
  readonly inputTokens?: number | null
  readonly outputTokens?: number | null
  readonly cachedTokens?: number | null
  readonly reasoningTokens?: number | null
  readonly amount?: number | null
  readonly source?: '' | 'listed' | 'provider'
}

/**
 * Create an artifact, either a file of the folder or stored by Callboard alone.
 *
 * With `path` and `content` the file is created. With `path` alone the artifact is the existing file. Without `path`
 * Callboard stores the content.
 */
export interface CreateArtifact {
  readonly sessionId: string
  readonly title?: string | null
  readonly path?: string | null
  readonly content?: string | null
  readonly reason?: string
}

/**
 * Start durable work in batches, with a child agent on each item.
 *
 * `agent` is the subagent for the items; it may be omitted if there is only one. `parallel` is the maximum number of
 * items at work. Without `session_id` a session is created in `workspace_id`. `permission_mode` is the mode of the
 * workers; it defaults to the lead's, and in a new session to the folder's.
 */
export interface CreateJob {
  readonly sessionId?: string | null
  readonly workspaceId?: string | null
  readonly title: string
  readonly instructions?: string
  readonly items: readonly JobItemInput[]
  readonly agent?: string | null
  readonly parallel?: number | null
  readonly isolation?: 'read_only' | 'shared' | 'worktree' | null
  readonly permissionMode?: PermissionMode | null
}

/** Create a task on the session's board. */
export interface CreateTask {
  readonly title: string
  readonly objective?: string
  readonly assignee?: string | null
  readonly parentTask?: string | null
  readonly dependsOn?: readonly string[]
  readonly priority?: 'high' | 'low' | 'normal'
  readonly acceptance?: string
  readonly sessionId: string
  readonly taskId?: string | null
}

/** A position in a session's view: the newest fact's sequence, and the number of live frames since that fact. */
export interface Cursor {
  readonly sequence: number
  readonly n?: number
}

/**
 * A definition.
 *
 * `file` is its path in the folder, empty for an agent without a file. `added`: the agent takes
 * part in the session.
 */
export interface DefinedAgent {
  readonly name: string
  readonly kind: AgentKind
  readonly description: string
  readonly file: string
  readonly added: boolean
}

/**
 * Delete an artifact; its versions stay in the log.
 *
 * `confirm` repeats the artifact's id. With `file` its file is deleted as well, if the file equals the newest version.
 */
export interface DeleteArtifact {
  readonly sessionId: string
  readonly artifactId: string
  readonly confirm: string
  readonly file?: boolean
  readonly reason?: string
}

/**
 * Delete a session with all its content; the workspace keeps the end of its chain.
 *
 * `confirm` repeats the session's id.
 */
export interface DeleteSession {
  readonly sessionId: string
  readonly confirm: string
}

/** The end of the deleted session's chain: its last sequence and link in hex. */
export interface DeletedSession {
  readonly sessionId: string
  readonly lastSequence: number
  readonly link: string
}

/** An artifact of a remote agent for its task `task_id`. `left_out` counts the parts beyond the limit. */
export interface DeliveredArtifact {
  readonly artifactId: string
  readonly taskId?: string
  readonly name?: string
  readonly description?: string
  readonly parts?: readonly RemotePart[]
  readonly leftOut?: number
  readonly at?: number
}

/**
 * A key, model server or agent program found on this machine.
 *
 * `where` is the variable, the address or the program. `models` are the names that a server
 * offers. `settings` are the lines that configure it, in settings.toml or in an agent's file.
 * `entry` is the same as an entry of `models`, empty for an agent. Without `settings`, `why` explains
 * what is missing. `configured`: it is in use.
 */
export interface DetectedSource {
  readonly kind: 'agent' | 'key' | 'server'
  readonly name: string
  readonly where: string
  readonly models?: readonly string[]
  readonly settings?: string
  readonly entry?: Readonly<Record<string, string>>
  readonly why?: string
  readonly configured?: boolean
}

/** A past call with another verdict: `was` is the gate's, `would` is the verdict of the rule `matcher`. */
export interface DryRunCall {
  readonly sessionId: string
  readonly turnId: string
  readonly toolCallId: string
  readonly tool: string
  readonly subject: string
  readonly was: Verdict
  readonly would: Verdict
  readonly matcher: string
}

/**
 * Result of rules on `calls` of `sessions`, newest first.
 *
 * `whole` is False if there are more calls. `turned` counts the calls with another verdict,
 * `unspoken` the calls that no rule matches. `examples` are the newest of each.
 */
export interface DryRunResult {
  readonly sessions: number
  readonly calls: number
  readonly whole: boolean
  readonly unspoken: number
  readonly turned: Readonly<Record<string, number>>
  readonly rules: readonly DryRunRule[]
  readonly examples: readonly DryRunCall[]
}

/** The number of calls that the rule would decide. */
export interface DryRunRule {
  readonly matcher: string
  readonly verdict: Verdict
  readonly calls: number
}

/**
 * Evaluate rules against the past calls of a workspace or of one session; nothing changes.
 *
 * It is a POST although it only reads, because rules do not fit into an address.
 */
export interface DryRunRules {
  readonly workspaceId: string
  readonly rules: readonly RuleEntry[]
  readonly sessionId?: string | null
}

/**
 * An allowed path from the declaring agent to `to` (Communication specification, Communication model).
 *
 * With `confirm` each handoff over it requires acceptance. With `ownership` a handoff over it may
 * transfer the ownership of the session.
 */
export interface Edge {
  readonly to: string
  readonly direction?: 'both' | 'to'
  readonly kind?: 'handoff' | 'report'
  readonly confirm?: boolean
  readonly ownership?: boolean
}

/** The agent in the scope added an edge from the agent `source` to this session, with a person's approval. */
export interface EdgeAdded {
  readonly source: string
  readonly edge: Edge
}

/**
 * A line of the graph: from a parent to its child, an allowed path, an open handoff, or a wait.
 *
 * The key is `type:source>target`.
 */
export interface EdgeRow {
  readonly kind: 'edge'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly edgeType: 'child' | 'depends' | 'handoff' | 'path' | 'wait'
  readonly source: string
  readonly target: string
  readonly direction?: 'both' | 'to'
  readonly edgeKind?: 'handoff' | 'report' | null
  readonly confirm?: boolean
  readonly ownership?: boolean
}

/**
 * Save text as the next version of an artifact.
 *
 * `base_version` is the version that the text was made from. If another version is newer, or the file differs from that
 * version, the command is refused with `artifact_conflict` and the text is kept as a draft. `title` renames the
 * artifact.
 */
export interface EditArtifact {
  readonly sessionId: string
  readonly artifactId: string
  readonly baseVersion: number
  readonly content?: string | null
  readonly title?: string | null
  readonly reason?: string
}

/** Replace the input of a queued turn. */
export interface EditQueuedTurn {
  readonly sessionId: string
  readonly turnId: string
  readonly text: string
}

/**
 * A fact on the wire: the envelope of the Agent UI specification (Event envelope) with the runtime's ids.
 *
 * `timestamp` is RFC 3339 in UTC with microseconds. `owner`, `scope`, `phase`, `surface` and
 * `persistence` are functions of the fact; edges compute them if they need them.
 */
export interface Envelope {
  readonly eventId: string
  readonly schemaVersion: number
  readonly sequence: number
  readonly timestamp: string
  readonly runtimeId: string
  readonly sessionId?: string
  readonly workspaceId?: string
  readonly threadId?: string
  readonly turnId?: string
  readonly runId?: string
  readonly stepId?: string
  readonly attemptId?: string
  readonly messageId?: string
  readonly partId?: string
  readonly taskId?: string
  readonly agentId?: string
  readonly parentSessionId?: string
  readonly parentThreadId?: string
  readonly parentRunId?: string
  readonly toolCallId?: string
  readonly actionId?: string
  readonly artifactId?: string
  readonly evidenceId?: string
  readonly handoffId?: string
  readonly channelId?: string
  readonly reviewId?: string
  readonly processId?: string
  readonly jobId?: string
  readonly traceId?: string
  readonly spanId?: string
  readonly commandId?: string
  readonly actor?: Actor | null
  readonly cause?: string
}

/** The failure that ended the turn. */
export interface ErrorPart {
  readonly kind: 'error'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly retryable?: boolean
}

/** Something failed that no other fact records. */
export interface ErrorRaised {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

/**
 * Preview the gate's verdict on a call, which is not made.
 *
 * The call is of a thread's agent in a session, or of an agent of a workspace in a mode. Nothing is recorded. It is a
 * POST although it only reads, because arguments do not fit into an address.
 */
export interface EvaluatePermission {
  readonly tool: string
  readonly arguments?: string
  readonly workspaceId?: string | null
  readonly sessionId?: string | null
  readonly threadId?: string | null
  readonly agent?: string
  readonly mode?: Mode
  readonly permissionMode?: PermissionMode
}

/**
 * An export in progress: `done` of `through` facts are in the pack.
 *
 * `done` is 0 while it waits for other exports, or selects the facts of the task. `started_at` is
 * in microseconds since the epoch.
 */
export interface EvidenceExport {
  readonly taskId: string | null
  readonly done: number
  readonly through: number
  readonly startedAt: number
}

/**
 * A pack of the session's facts 1 to `through` was exported.
 *
 * `facts` is the number of those of `task`, or of all. `pack` refers to its bytes. `link` is the
 * chain's link at `through` in hex. Both can be checked without this product.
 */
export interface EvidenceExported {
  readonly through: number
  readonly facts: number
  readonly link: string
  readonly pack: BlobRef
  readonly task?: string
  readonly reason?: string
}

/**
 * The exported pack, a blob.
 *
 * It proves the session's facts 1 to `through`. `facts` is the number of requested facts: all, or
 * the task's. `link` is the chain's link at `through` in hex. `sequence` is the fact of the
 * export.
 */
export interface EvidencePacked {
  readonly sessionId: string
  readonly evidenceId: string
  readonly pack: BlobRef
  readonly through: number
  readonly facts: number
  readonly link: string
  readonly sequence: number
}

/**
 * The folder in which commands run, and their confinement.
 *
 * `level` is the effective sandbox on this machine, and `why` explains a lower one. No command can
 * write `protected` paths; `hidden` paths appear empty. `programs` are the folders of programs, in
 * order.
 */
export interface ExecutionEnvironment {
  readonly cwd: string
  readonly workspaceRoots: readonly string[]
  readonly level: SandboxLevel
  readonly why: string
  readonly seccomp: boolean
  readonly network: boolean
  readonly limits: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly writable: readonly string[]
  readonly protected: readonly string[]
  readonly hidden: readonly string[]
  readonly programs: readonly string[]
  readonly trusted: boolean
  readonly permissionMode: PermissionMode
}

/** The expected reply. A required reply is tracked until it arrives or expires. */
export interface Expectation {
  readonly expectation?: 'none' | 'optional' | 'required'
  readonly replyTo?: string
  readonly withinS?: number | null
}

/**
 * Export artifacts in the background as a file, a diff, a page or an archive.
 *
 * `form` is `file` (one version), `diff` (two versions of one artifact), `html` (a Markdown text as a page) or `zip`
 * (the newest versions of the named artifacts, or of all). `version` defaults to the newest, `from_version` to the one
 * before it.
 */
export interface ExportArtifact {
  readonly sessionId: string
  readonly artifactIds?: readonly string[]
  readonly form?: 'diff' | 'file' | 'html' | 'zip'
  readonly version?: number | null
  readonly fromVersion?: number | null
  readonly reason?: string
}

/**
 * An export.
 *
 * `content` is set once it is complete, `code` and `message` if it failed. With `source` it is the
 * diff from that version. `artifacts` is the number of named artifacts; with `everything` it has
 * all of the session. `done` of `total` bytes are read.
 */
export interface ExportEntry {
  readonly export: string
  readonly version: number
  readonly form: 'diff' | 'file' | 'html' | 'zip'
  readonly source?: number
  readonly artifacts?: number
  readonly everything?: boolean
  readonly done?: number
  readonly total?: number
  readonly name?: string
  readonly content?: BlobRef | null
  readonly leftOut?: number
  readonly code?: string
  readonly message?: string
}

/**
 * Export a pack of a session's facts that others can verify without this product.
 *
 * With `task_id` the pack also lists the facts of that task, its subtasks and their agents. The chain is complete in both
 * cases.
 */
export interface ExportEvidence {
  readonly sessionId: string
  readonly taskId?: string | null
  readonly reason?: string
}

/** Evidence exports in progress, oldest first. */
export interface ExportList {
  readonly exports: readonly EvidenceExport[]
}

/**
 * The export is in progress.
 *
 * `list_artifacts` and the row of the artifact report its progress and result.
 */
export interface ExportStarted {
  readonly sessionId: string
  readonly artifactId: string
  readonly exportId: string
  readonly sequence: number
}

/**
 * Record that the newest attempt of a task failed.
 *
 * Another attempt can be started.
 */
export interface FailTask {
  readonly sessionId: string
  readonly taskId: string
  readonly reason?: string
  readonly code?: string
  readonly message: string
}

/**
 * A tool's change of a file.
 *
 * `path` is relative to the folder. `diff` is unified. `before` and `after` are the contents.
 */
export interface FileChange {
  readonly path: string
  readonly kind: 'created' | 'deleted' | 'modified'
  readonly added?: number
  readonly removed?: number
  readonly diff?: Text | null
  readonly before?: BlobRef | null
  readonly after?: BlobRef | null
}

/**
 * List what text after an @ can refer to, best match first.
 *
 * Files and folders of the workspace, agents, past sessions, and with `session_id` artifacts of that session.
 */
export interface FindMentions {
  readonly workspaceId: string
  readonly sessionId?: string | null
  readonly text?: string
  readonly limit?: number
}

/**
 * Read an artifact with its versions and the step that created each.
 *
 * `before` limits the versions to those before it.
 */
export interface GetArtifact {
  readonly sessionId: string
  readonly artifactId: string
  readonly before?: number | null
  readonly limit?: number
  readonly waitFor?: number
}

/**
 * Read the differences between two versions of an artifact.
 *
 * `from_version` may be the later one. Version 0 is empty.
 */
export interface GetArtifactDiff {
  readonly sessionId: string
  readonly artifactId: string
  readonly fromVersion: number
  readonly toVersion: number
}

/**
 * Read the context of a thread's newest run: what it received, what is missing and what was omitted, with reasons.
 *
 * With `ref` the answer includes the text of that entry (CTX-01).
 */
export interface GetContext {
  readonly sessionId: string
  readonly threadId?: string | null
  readonly ref?: string | null
}

/**
 * Read where commands of a thread run, what confines them, and their limits.
 *
 * `thread_id` defaults to the lead's thread. Without a session, the answer is for an agent of the workspace
 * that has no limits.
 */
export interface GetExecutionEnvironment {
  readonly sessionId?: string | null
  readonly threadId?: string | null
  readonly workspaceId?: string | null
}

/** Read a job and the state of each item. */
export interface GetJob {
  readonly sessionId: string
  readonly jobId: string
}

/** Read the parts of one turn. */
export interface GetParts {
  readonly sessionId: string
  readonly turnId: string
}

/**
 * Read the header of a session, its newest turns, its threads, and the cursor to follow it from.
 *
 * `wait_for` is a sequence that the answer must include.
 */
export interface GetSession {
  readonly sessionId: string
  readonly turns?: number
  readonly waitFor?: number
}

/**
 * Read a settings file and the effective settings, with secrets masked.
 *
 * The file is the user's, or the one in a workspace's folder.
 */
export interface GetSettings {
  readonly place?: 'folder' | 'user'
  readonly workspaceId?: string | null
}

/** Read a task with its attempts, and the snapshot that restores the view of its agents. */
export interface GetTask {
  readonly sessionId: string
  readonly taskId: string
}

/** Read a thread's status, pending actions, last outcome, incidents and queue. */
export interface GetThreadRead {
  readonly sessionId: string
  readonly threadId?: string | null
  readonly waitFor?: number
}

/**
 * List the tools of an agent as loaded, deferred, blocked or excluded, each with its reason and behaviour.
 *
 * With `session_id` the inventory belongs to a thread's newest run; `thread_id` defaults to the lead's. With a
 * workspace it belongs to a definition in a chat in its own permission mode.
 */
export interface GetToolInventory {
  readonly sessionId?: string | null
  readonly threadId?: string | null
  readonly workspaceId?: string | null
  readonly agent?: string
}

/** Read what a folder's own files would allow, and whether the folder is trusted. */
export interface GetTrust {
  readonly workspaceId: string
}

/**
 * Read older turns of a session or of one thread.
 *
 * The answer holds the newest turns before the given order, in ascending order.
 */
export interface GetTurns {
  readonly sessionId: string
  readonly threadId?: string | null
  readonly before?: number | null
  readonly limit?: number
}

/** An open agent. `child` is set for a child of `parent_thread_id`. `run_id` is its running run. */
export interface GraphAgent {
  readonly agentId: string
  readonly threadId: string
  readonly agentKind: string
  readonly parentThreadId?: string
  readonly parentRunId?: string
  readonly runId?: string
  readonly queued?: number
  readonly paused?: string
  readonly queueReason?: string
  readonly child?: ChildResult | null
}

/** The receiver accepted the handoff: by consuming it or, if confirmation is required, by an answer. */
export interface HandoffAccepted {
  readonly source: string
  readonly target: string
  readonly ownership?: boolean
  readonly resumeTarget?: string
  readonly reason?: string
}

/** The handoff with its new status. */
export interface HandoffAnswered {
  readonly sessionId: string
  readonly handoffId: string
  readonly status: 'accepted' | 'completed' | 'rejected'
  readonly sequence: number
}

/**
 * The receiver's turn ended, or the ownership was returned.
 *
 * Then the agent that resumes, in `to_thread`, is notified.
 */
export interface HandoffCompleted {
  readonly source: string
  readonly target: string
  readonly returned?: boolean
  readonly toThread?: string
  readonly reason?: string
}

/**
 * A handoff that the turn received, or `news` of one.
 *
 * News are that another actor accepted it for the agent, or that the sender's handoff was rejected,
 * returned or expired. `message` is limited to 400 characters; the handoff lane has all of it.
 */
export interface HandoffPart {
  readonly kind: 'agent_handoff'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly handoffId: string
  readonly source: string
  readonly target: string
  readonly message: string
  readonly ownership?: boolean
  readonly news?: 'accepted' | 'expired' | 'rejected' | 'requested' | 'returned'
}

/** The receiver rejected the handoff. The sender, in `to_thread`, receives the reason. */
export interface HandoffRejected {
  readonly source: string
  readonly target: string
  readonly toThread: string
  readonly reason?: string
}

/**
 * An agent sent an envelope to the receiver's inbox.
 *
 * `source` and `target` are agents, `to_thread` is the receiver's thread.
 *
 * `ownership` requests the ownership of the session for the target. `resume_target` then names the
 * agent that gets it back, and `context_boundary` is the last sequence that the target receives.
 * `reply_by` is the deadline of a required reply (microseconds since the epoch, 0 for none).
 * `hops` counts the agents in the chain since a person's input. `artifacts` maps each artifact ref
 * to an artifact of the session; `unresolved` are the other artifact refs.
 * `contracts.handoff_envelope.build_envelope` returns the canonical envelope.
 */
export interface HandoffRequested {
  readonly source: string
  readonly target: string
  readonly toThread: string
  readonly edge: 'handoff' | 'report'
  readonly payload: Payload
  readonly contextRef?: string
  readonly meta?: Readonly<Record<string, unknown>> | null
  readonly reason?: string
  readonly confirm?: boolean
  readonly ownership?: boolean
  readonly resumeTarget?: string
  readonly contextBoundary?: number
  readonly replyBy?: number
  readonly hops?: number
  readonly artifacts?: Readonly<Record<string, string>> | null
  readonly unresolved?: readonly string[]
}

/**
 * An entry of the handoff lane; the key is the handoff's id.
 *
 * Times are in microseconds since the epoch. `artifacts` maps artifact refs to artifacts of the
 * session; `unresolved` are the others.
 */
export interface HandoffRow {
  readonly kind: 'handoff'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly source: string
  readonly target: string
  readonly edge: 'handoff' | 'report'
  readonly state: 'accepted' | 'active' | 'completed' | 'handoff_requested' | 'rejected' | 'resumed' | 'returned' | 'unknown'
  readonly payload: Payload
  readonly artifacts?: Readonly<Record<string, string>> | null
  readonly unresolved?: readonly string[]
  readonly contextRef?: string
  readonly meta?: Readonly<Record<string, unknown>> | null
  readonly reason?: string
  readonly answerReason?: string
  readonly confirm?: boolean
  readonly ownership?: boolean
  readonly resumeTarget?: string
  readonly contextBoundary?: number
  readonly requested?: number
  readonly accepted?: number
  readonly ended?: number
  readonly replyBy?: number
  readonly reply?: '' | 'answered' | 'awaited' | 'expired' | 'unknown'
}

/**
 * The envelope is in the receiver's inbox.
 *
 * `paused` is the reason why the receiver is paused; it reads the envelope once it is resumed.
 */
export interface HandoffSent {
  readonly sessionId: string
  readonly handoffId: string
  readonly target: string
  readonly status: 'queued' | 'waiting_for_answer'
  readonly sequence: number
  readonly paused?: string
}

/** Status of the sender's work. */
export interface HandoffStatus {
  readonly ok: boolean
  readonly reason?: string
}

/**
 * The result of a call's hooks, which run once per call.
 *
 * `detail` names each hook with its result, `reasons` has the codes. `code` is why the call is
 * denied. `arguments` are those with which the hook `by` replaced the model's, as canonical JSON.
 */
export interface HookOutcome {
  readonly verdict: Verdict
  readonly detail?: string
  readonly code?: string
  readonly arguments?: Text | null
  readonly by?: string
  readonly reasons?: readonly Reason[]
}

/**
 * Import a past session of Claude Code or Codex, to read it here.
 *
 * The name is from `list_past_sessions`, which also reports progress. Importing again adds only new turns. The command
 * answers when all turns are imported. If a turn is refused, the turns before it stay. Refused with `nothing_to_import`
 * if no turn is finished, and with `session_driven` if a session of Callboard ran it.
 */
export interface ImportPastSession {
  readonly workspaceId: string
  readonly source: 'claude_code' | 'codex'
  readonly sourceId: string
}

/**
 * Import a past turn of another product into a read-only session.
 *
 * The first turn creates the session. A turn that exists already stays unchanged. `at` is the start of the turn, in
 * microseconds since the epoch. `agent` identifies an agent of the past session; it is empty for the agent that the
 * person talked to. `subagent` describes any other agent; its default parent is the agent that the person talked to.
 * `input_source` is the origin of `input`. Refused with `session_driven` if a session of Callboard ran that past
 * session and holds its work already.
 */
export interface ImportTurn {
  readonly workspaceId: string
  readonly source: 'claude_code' | 'codex'
  readonly sourceId: string
  readonly title?: string
  readonly turnId: string
  readonly at: number
  readonly input?: string
  readonly inputSource?: 'agent' | 'compaction' | 'inbox' | 'notice' | 'person' | 'schedule'
  readonly calls?: readonly ImportedCall[]
  readonly ended?: 'completed' | 'failed' | 'interrupted'
  readonly agent?: string
  readonly subagent?: ImportedAgent | null
}

/**
 * A past subagent: its type and its task's description, empty if unknown.
 *
 * `parent` is the `agent` that started it, empty for the main agent, None if unknown.
 */
export interface ImportedAgent {
  readonly definition?: string
  readonly description?: string
  readonly parent?: string | null
}

/** A past model call: its parts in order, and the usage that the provider reported. */
export interface ImportedCall {
  readonly model: string
  readonly parts?: readonly ImportedPart[]
  readonly stopReason?: StopReason
  readonly inputTokens?: number | null
  readonly outputTokens?: number | null
  readonly cachedTokens?: number | null
  readonly reasoningTokens?: number | null
}

/**
 * A past change of a file.
 *
 * `path` is relative to the folder if the file is in it. `diff` is unified.
 */
export interface ImportedChange {
  readonly path: string
  readonly kind: 'created' | 'deleted' | 'modified'
  readonly diff?: string
  readonly added?: number
  readonly removed?: number
}

/**
 * A part of a past response.
 *
 * For a tool `text` is its arguments as JSON; without `ended` its outcome is unknown. For a
 * `compaction` `text` is the summary of the older conversation, with the tokens before and after
 * if known.
 */
export interface ImportedPart {
  readonly kind: 'compaction' | 'reasoning' | 'text' | 'tool'
  readonly text?: string
  readonly tool?: string
  readonly summary?: string
  readonly callId?: string
  readonly ended?: 'completed' | 'failed' | 'refused' | null
  readonly output?: string
  readonly durationMs?: number
  readonly exitCode?: number | null
  readonly changes?: readonly ImportedChange[]
  readonly cause?: 'person' | 'refused' | 'window'
  readonly tokensBefore?: number | null
  readonly tokensAfter?: number | null
}

/** The model of the run responded, so these items are consumed, once and in this order. */
export interface InboxConsumed {
  readonly items: readonly string[]
}

/** The run in the scope received these inbox items. They are consumed once its model responds. */
export interface InboxReserved {
  readonly items: readonly string[]
}

/** A warning or an error, newest last. `at` is in microseconds since the epoch. */
export interface Incident {
  readonly sequence: number
  readonly at: number
  readonly code: string
  readonly message: string
}

/**
 * Stop the running turn of a thread.
 *
 * `queued` keeps or clears the queue behind it. With `cascade` its children are cancelled as well.
 */
export interface InterruptTurn {
  readonly sessionId: string
  readonly threadId?: string | null
  readonly turnId?: string | null
  readonly queued?: 'clear' | 'keep'
  readonly cascade?: boolean
  readonly reason?: string
}

/**
 * The job with its new status.
 *
 * `items` are the ids of the items that the command concerns, in order.
 */
export interface JobChanged {
  readonly sessionId: string
  readonly jobId: string
  readonly taskId: string
  readonly status: 'cancelled' | 'cancelling' | 'completed' | 'failed' | 'paused' | 'running'
  readonly items?: readonly string[]
  readonly sequence: number
}

/**
 * A job was created with `items` items, which follow as tasks in its scope.
 *
 * A child of the definition `agent` works on each item; at most `parallel` run in parallel (0 for
 * the parent's limit). `permission_mode` is their widest mode; `chosen` if a person set it, else
 * the lead's.
 */
export interface JobCreated {
  readonly agent: string
  readonly items: number
  readonly parallel?: number
  readonly isolation?: 'read_only' | 'shared' | 'worktree' | null
  readonly permissionMode?: PermissionMode
  readonly chosen?: boolean
}

/**
 * An item.
 *
 * `agent_id` is its newest worker. `output` is the head of the successful attempt's result,
 * `problem` the reason of a failure. With `plain_text` that attempt answered in plain text and did
 * not finalize.
 */
export interface JobItem {
  readonly itemId: string
  readonly title: string
  readonly status: 'cancelled' | 'cancelling' | 'completed' | 'failed' | 'paused' | 'running' | 'waiting'
  readonly attempts?: number
  readonly agentId?: string
  readonly runId?: string
  readonly output?: string
  readonly refs?: readonly Ref[]
  readonly problem?: string
  readonly plainText?: boolean
}

/**
 * An item.
 *
 * Its worker receives `input` after the instructions of the job. `title` defaults to the first
 * line of `input`.
 */
export interface JobItemInput {
  readonly input: string
  readonly title?: string
}

/** Another attempt of the failed item in the scope was requested. It starts when the job has a free slot. */
export interface JobItemRetried {
  readonly reason?: string
}

/** Number of a job's items by state. Paused items are `waiting`; items that wait for a person are `running`. */
export interface JobItems {
  readonly waiting?: number
  readonly running?: number
  readonly failed?: number
  readonly completed?: number
  readonly cancelled?: number
}

/** A job. `agent` is the definition of the children that work on the items. */
export interface JobRead {
  readonly sessionId: string
  readonly jobId: string
  readonly taskId: string
  readonly title: string
  readonly agent: string
  readonly status: 'cancelled' | 'cancelling' | 'completed' | 'failed' | 'paused' | 'running'
  readonly counts: JobItems
  readonly items: readonly JobItem[]
  readonly sequence: number
}

/** A limit as the provider reports it. `resets_in_ms` counts from the response. */
export interface Limit {
  readonly what: 'input_tokens' | 'output_tokens' | 'requests' | 'tokens'
  readonly limit?: number | null
  readonly remaining?: number | null
  readonly resetsInMs?: number | null
}

/** Make a task a subtask of another task, let it depend on other tasks, or add references. */
export interface LinkTasks {
  readonly sessionId: string
  readonly taskId: string
  readonly reason?: string
  readonly parentTask?: string | null
  readonly dependsOn?: readonly string[]
  readonly refs?: readonly Ref[]
}

/**
 * List the agents that the folder or the session defines, and which of them take part.
 *
 * Subagents are spawned; all others can be added.
 */
export interface ListAgents {
  readonly sessionId: string
}

/**
 * List the artifacts of a session with their state, and the exports in progress.
 *
 * The newest is last. `before` limits the list to artifacts whose newest version has a smaller sequence. `wait_for` is
 * a sequence that the answer must include.
 */
export interface ListArtifacts {
  readonly sessionId: string
  readonly before?: number | null
  readonly limit?: number
  readonly waitFor?: number
}

/** List the evidence exports in progress, with their progress. */
export interface ListExports {
  readonly sessionId: string
}

/**
 * List the configured models, and the keys, model servers and agents found on this machine.
 *
 * The search sends nothing to other machines and takes at most one second.
 */
export interface ListModels {
}

/**
 * List the past sessions of Claude Code and Codex in a workspace's folder.
 *
 * Sessions that a person imported and deleted are omitted. Sessions that a session of Callboard ran are omitted too,
 * because their work is recorded here already.
 */
export interface ListPastSessions {
  readonly workspaceId: string
}

/** List the background processes of a session or of one thread, including finished ones. */
export interface ListProcesses {
  readonly sessionId: string
  readonly threadId?: string | null
}

/** List the rules of a workspace or a session, and the place of each. */
export interface ListRules {
  readonly workspaceId?: string | null
  readonly sessionId?: string | null
}

/** List the secrets by name and place, without their values. */
export interface ListSecrets {
}

/** List the tool servers of a workspace, with their errors. */
export interface ListServers {
  readonly workspaceId: string
}

/** List the sessions of a workspace, or of all workspaces, newest first. */
export interface ListSessions {
  readonly workspaceId?: string | null
}

/** List the disk space that each session uses. */
export interface ListSizes {
}

/** List the agents of a session: parents, children and the state of each child. */
export interface ListSubagents {
  readonly sessionId: string
  readonly threadId?: string | null
}

/** List the tasks of a session with their attempts, newest first. */
export interface ListTasks {
  readonly sessionId: string
  readonly status?: 'blocked' | 'cancelled' | 'claimed' | 'done' | 'open' | 'reviewing' | 'running' | null
}

/** List the opened workspaces. */
export interface ListWorkspaces {
}

/**
 * A rule with its place.
 *
 * `source` is its file, empty for an approval or a person. `held_back` explains why it does not apply:
 * the folder is not trusted, or it expired.
 */
export interface ListedRule {
  readonly ruleId: string
  readonly matcher: string
  readonly verdict: Verdict
  readonly scope: RuleScope
  readonly source?: string
  readonly expiresAt?: number
  readonly heldBack?: string
}

/** A match. `insert` is the text to insert, with the @. `title` is for display. */
export interface Mention {
  readonly kind: 'agent' | 'artifact' | 'file' | 'folder' | 'session'
  readonly ref: string
  readonly insert: string
  readonly title?: string
}

/** The matches. `complete` is False if there may be more. */
export interface MentionList {
  readonly mentions: readonly Mention[]
  readonly complete?: boolean
}

/** Merge a child's worktree into its parent's folder, completely or not at all. */
export interface MergeSubagent {
  readonly sessionId: string
  readonly agent: string
  readonly reason?: string
}

/** A text part was interrupted; the content is the text so far. */
export interface MessageInterrupted {
  readonly content: Text
}

/** A message between agents; the key is its item. The panel has the newest two hundred. */
export interface MessageRow {
  readonly kind: 'message'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly channelId: string
  readonly source: string
  readonly participants: readonly string[]
  readonly text: Text
  readonly at?: number
}

/**
 * The message is in each receiver's inbox.
 *
 * `paused` has the reason for each paused receiver; it reads the message once it is resumed.
 */
export interface MessageSent {
  readonly sessionId: string
  readonly channelId: string
  readonly sequence: number
  readonly paused?: Readonly<Record<string, string>>
}

/**
 * A text part of the assistant's message was finished, at this step.
 *
 * `revised`: it differs from the streamed text, for example because the complete text contains a
 * secret.
 */
export interface MessageText {
  readonly content: Text
  readonly revised?: boolean
}

/** A named ref that could not be resolved. `ref` is the text as written. */
export interface MissingRef {
  readonly ref: string
  readonly source: 'attached' | 'folder' | 'mentioned' | 'pinned'
  readonly reason: 'ambiguous' | 'deleted' | 'denied' | 'erased' | 'not_found' | 'outside_folder' | 'too_large' | 'unreadable'
  readonly detail?: string
}

/**
 * The response is complete.
 *
 * `first_ms` is the time from the request to its first piece, `duration_ms` to its last.
 * `provider_reason` is the provider's own stop reason.
 */
export interface ModelCompleted {
  readonly stopReason: StopReason
  readonly firstMs?: number
  readonly durationMs?: number
  readonly responseId?: string
  readonly providerReason?: string
}

/** An attempt failed. With `retry_in_ms` the next attempt follows; without it the call failed. */
export interface ModelFailed {
  readonly code: string
  readonly message: string
  readonly attempt?: number
  readonly retryInMs?: number | null
}

/** The call was stopped, or its host died, before the response was complete. */
export interface ModelInterrupted {
}

/** The models in the order of preference, and what is found beside them. */
export interface ModelList {
  readonly configured: readonly ConfiguredModel[]
  readonly found: readonly DetectedSource[]
}

/**
 * A model call began.
 *
 * Its context is referenced, not copied: the prompts of `turn.started`, and the thread's facts
 * after `context_after` (older turns are left out) up to and including `context_through`.
 * `iteration` counts the run's model calls from 1.
 */
export interface ModelRequested {
  readonly provider: string
  readonly model: string
  readonly iteration: number
  readonly contextThrough: number
  readonly contextAfter?: number
  readonly purpose?: 'answer' | 'compaction'
}

/**
 * The response in `text`, or the `problem`.
 *
 * Times are in milliseconds since the question. `amount` is in US dollars. Values that the
 * provider did not report are absent.
 */
export interface ModelTestResult {
  readonly name: string
  readonly ok: boolean
  readonly text?: string
  readonly firstMs?: number
  readonly durationMs?: number
  readonly inputTokens?: number | null
  readonly outputTokens?: number | null
  readonly amount?: number | null
  readonly source?: '' | 'listed' | 'provider'
  readonly problem?: Problem | null
}

/**
 * A milestone, such as a retry of the model, a pause or a warning.
 *
 * It is also a message (`agent_message`) or a review request (`review_requested`) of the agent
 * `agent_id`. A waiting model call has one notice, with the wait and the number of the next
 * `attempt`.
 */
export interface NoticePart {
  readonly kind: 'runtime_status'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly agentId?: string
  readonly retryInMs?: number | null
  readonly attempt?: number
}

/**
 * A child's result that the turn received.
 *
 * `transcript` is the child's thread. With `plain_text` the child answered in plain text and did
 * not finalize.
 */
export interface NotificationPart {
  readonly kind: 'worker_notification'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly agentId: string
  readonly taskId: string
  readonly status: 'cancelled' | 'completed' | 'failed' | 'interrupted' | 'needs_input' | 'ready_for_review'
  readonly summary: string
  readonly transcript?: string
  readonly plainText?: boolean
}

/** A child's result for its parent; the key is the event's id. `consumed`: a turn of the parent received it. */
export interface NotificationRow {
  readonly kind: 'notification'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly agentId: string
  readonly parentAgentId: string
  readonly taskId: string
  readonly status: 'cancelled' | 'completed' | 'failed' | 'interrupted' | 'needs_input' | 'ready_for_review'
  readonly summary: string
  readonly result?: Text
  readonly transcript?: string
  readonly usage?: WorkUsage
  readonly at?: number
  readonly consumed?: boolean
  readonly plainText?: boolean
}

/**
 * Context that was left out.
 *
 * `ref` is as in `ContextRef`; empty for older turns, with their number in `count`. `tokens` is an
 * estimate.
 */
export interface Omission {
  readonly reason: 'binary' | 'budget' | 'compacted' | 'excluded' | 'older_turns' | 'unsupported' | 'untrusted'
  readonly ref?: string
  readonly count?: number
  readonly tokens?: number | null
}

/**
 * Open a folder as a workspace.
 *
 * Opening it again returns the same workspace. A home folder, a folder that contains one, and a system folder open only
 * with `wide`, which a person sets after reading what it means.
 */
export interface OpenWorkspace {
  readonly path: string
  readonly wide?: boolean
}

/** The workspace of the folder. */
export interface OpenedWorkspace {
  readonly workspaceId: string
  readonly path: string
  readonly name: string
  readonly sequence: number
}

/**
 * The final answer of the run: the steps of its text parts after the last tool call, in order.
 *
 * Earlier texts are commentary.
 */
export interface OutputFinal {
  readonly parts: readonly number[]
}

/** Rows of the panel `parts`. */
export interface PartList {
  readonly parts: readonly (TextPart | ReasoningPart | ToolPart | ActionPart | SteerPart | NoticePart | PlanPart | NotificationPart | HandoffPart | RemoteStatusPart | ContextPart | ArtifactPart | ErrorPart)[]
}

/**
 * A past session, identified by `source` and `source_id`.
 *
 * `changed` is the time of its transcript's last write, in microseconds since the epoch. An
 * `unfinished` session was written moments ago; a later import adds its newest turn. `session_id`
 * is its session here if it was `imported`, else the id that it will have. `importing` is the
 * number of turns that an import in progress has read; absent without one.
 */
export interface PastSessionEntry {
  readonly source: 'claude_code' | 'codex'
  readonly product: string
  readonly sourceId: string
  readonly folder: string
  readonly title: string
  readonly changed: number
  readonly sessionId?: string
  readonly imported?: boolean
  readonly unfinished?: boolean
  readonly importing?: number | null
}

/**
 * The imported session: `added` turns are new, `known` turns existed.
 *
 * If it is `unfinished`, a later import adds each agent's newest turn.
 */
export interface PastSessionImported {
  readonly sessionId: string
  readonly added: number
  readonly known: number
  readonly unfinished?: boolean
}

/**
 * The past sessions, newest first.
 *
 * `older` is the number of older transcripts beyond the limit, which were not read.
 */
export interface PastSessionList {
  readonly sessions: readonly PastSessionEntry[]
  readonly unreadable?: readonly UnreadableTranscript[]
  readonly older?: number
}

/**
 * Pause a job until it is resumed.
 *
 * Finished items stay finished.
 */
export interface PauseJob {
  readonly sessionId: string
  readonly jobId: string
  readonly reason?: string
}

/** Stop the work on a task and its subtasks until it is resumed. */
export interface PauseTask {
  readonly sessionId: string
  readonly taskId: string
  readonly reason?: string
}

/** Payload of a handoff. Only the message is required. */
export interface Payload {
  readonly message: string
  readonly structured?: Readonly<Record<string, unknown>> | null
  readonly artifacts?: readonly Ref[]
  readonly status?: HandoffStatus | null
  readonly response?: Expectation | null
}

/**
 * The gate's verdict on a call with its final arguments (`arguments_hash`: SHA-256 of the canonical JSON in hex).
 *
 * `checks` has the checks with a result other than a plain pass, in order; a denial is the last.
 * `passed` adds the plain passes. `secrets` are the names of stored secrets whose handles are in
 * the arguments, never a value.
 */
export interface PermissionEvaluated {
  readonly tool: string
  readonly verdict: Verdict
  readonly risk: Risk
  readonly argumentsHash: string
  readonly checks?: readonly Check[]
  readonly secrets?: readonly string[]
}

/**
 * The gate's verdict with every check that the call reached.
 *
 * `arguments` are the final ones, as canonical JSON. `code` and `message` are set for a denial.
 * `matchers` are the rules that wider approvals would add.
 */
export interface PermissionEvaluation {
  readonly agent: string
  readonly permissionMode: PermissionMode
  readonly verdict: Verdict
  readonly risk: Risk
  readonly readOnly: boolean
  readonly summary: string
  readonly arguments: string
  readonly checks: readonly Check[]
  readonly code: Code | null
  readonly message: string
  readonly preview: string
  readonly matchers: Readonly<Record<string, string>>
}

/** An approval with a wider scope than once added a rule. */
export interface PermissionRuleAdded {
  readonly rule: Rule
}

/** A rule was revoked. */
export interface PermissionRuleRevoked {
  readonly ruleId: string
  readonly reason?: string
}

/**
 * The present plan of a run, at the position of its first.
 *
 * A rejected plan that was proposed again is a new `revision`; `former` and `later` are the keys
 * of its neighbours.
 */
export interface PlanPart {
  readonly kind: 'plan'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly state: PartState
  readonly steps: readonly PlanStep[]
  readonly revision?: number
  readonly former?: string
  readonly later?: string
}

/** A step of an agent's plan, in the agent's words. */
export interface PlanStep {
  readonly content: string
  readonly status: 'completed' | 'in_progress' | 'pending'
}

/**
 * The agent's complete plan.
 *
 * The last one of a run is `final`. A rejected plan that is proposed again is the next `revision`,
 * at a new step.
 */
export interface PlanUpdated {
  readonly steps: readonly PlanStep[]
  readonly final?: boolean
  readonly revision?: number
}

/**
 * Preview which model receives the next input of a thread, and whether it accepts images.
 *
 * `thread_id` defaults to the lead's thread. With a workspace instead of a session, the preview is for the lead of a
 * new session.
 */
export interface PreviewRoute {
  readonly sessionId?: string | null
  readonly workspaceId?: string | null
  readonly threadId?: string | null
}

/**
 * A refusal on the wire. `field` is the path of the invalid input, such as `decision` or `input.text`.
 *
 * `reason` with `params` details the code for a client that translates it, such as a
 * `SettingsProblemCode`. An empty reason has only the message.
 */
export interface Problem {
  readonly code: Code
  readonly message: string
  readonly field?: string
  readonly hint?: string
  readonly reason?: string
  readonly params?: Readonly<Record<string, string>>
}

/** The request is recorded at `sequence`. The row of the process has the result. */
export interface ProcessChanged {
  readonly sessionId: string
  readonly processId: string
  readonly sequence: number
}

/**
 * The process and all its child processes ended.
 *
 * `output` is its head and tail. `code` and `message` name the limit that ended it, or another
 * failure.
 */
export interface ProcessEnded {
  readonly status: 'exited' | 'limited' | 'lost' | 'session_closed' | 'terminated'
  readonly exitCode?: number | null
  readonly output?: Text
  readonly durationMs?: number
  readonly code?: string
  readonly message?: string
}

/** A person or an agent wrote to the process; `end` closes its input. It is unknown whether the process read it. */
export interface ProcessInputGiven {
  readonly text?: Text
  readonly end?: boolean
}

/** The processes, oldest first. A running one has its newest output. */
export interface ProcessList {
  readonly processes: readonly ProcessRow[]
}

/**
 * A background process.
 *
 * `order` is the sequence of its start. `output` is the newest output of a running process on
 * request, or the head and tail of an ended one. Times are in microseconds since the epoch.
 */
export interface ProcessRow {
  readonly kind: 'process'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly processId: string
  readonly threadId: string
  readonly agentId: string
  readonly turnId: string
  readonly toolCallId: string
  readonly state: 'exited' | 'limited' | 'lost' | 'running' | 'session_closed' | 'stopping' | 'terminated' | 'unknown'
  readonly command: Text
  readonly summary?: string
  readonly startedAt: number
  readonly endedAt?: number
  readonly exitCode?: number | null
  readonly output?: Text
  readonly code?: string
  readonly message?: string
  readonly reason?: string
}

/** A command runs in the background. The `sandbox.applied` of its call has its confinement. */
export interface ProcessStarted {
  readonly command: Text
  readonly summary?: string
}

/** A person or an agent requested the end of the process. */
export interface ProcessStopRequested {
  readonly reason?: string
}

/** Move a queued turn to the front. */
export interface PromoteQueuedTurn {
  readonly sessionId: string
  readonly turnId: string
  readonly reason?: string
}

/** A layer of the prompt, stored as the blob `hash` of `size` bytes. */
export interface PromptRef {
  readonly layer: 'instructions' | 'mode' | 'role' | 'system' | 'task'
  readonly hash: string
  readonly size: number
}

/** A submitted turn is queued. `position` counts from 1. */
export interface QueueAdded {
  readonly position: number
}

/** Ids of the thread's queued turns, in order. */
export interface QueueChanged {
  readonly sessionId: string
  readonly threadId: string
  readonly queued: readonly string[]
  readonly sequence: number
}

/** The input of a queued turn was replaced, with its context. */
export interface QueueEdited {
  readonly input: Text
  readonly given?: readonly ContextRef[]
  readonly missing?: readonly MissingRef[]
}

/** A queued turn was moved to the front. */
export interface QueuePromoted {
  readonly reason?: string
}

/** A queued turn was removed and will not run. */
export interface QueueRemoved {
  readonly reason?: string
}

/** A queued turn. `order` is its position. */
export interface QueueRow {
  readonly kind: 'queued_turn'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly input: Text
  readonly mode: Mode
  readonly submittedAt: number
}

/**
 * A provider refused a call for its limits, or reported that less than a tenth of a limit is left.
 *
 * `exhausted`: waiting does not help.
 */
export interface QuotaReported {
  readonly provider: string
  readonly limits?: readonly Limit[]
  readonly retryAfterMs?: number | null
  readonly exhausted?: boolean
}

/**
 * A person's text quoted with a summary.
 *
 * `sequence` is its fact, an input or a steer. `size` is the number of quoted bytes: all, or its
 * head and tail.
 */
export interface Quote {
  readonly sequence: number
  readonly size: number
}

/**
 * A person's input quoted with a summary.
 *
 * `sequence` is its fact. `text` has all of its `size` bytes, or its head and tail.
 */
export interface QuotedInput {
  readonly sequence: number
  readonly turnId: string
  readonly size: number
  readonly text: Text
}

/** A reason for a verdict or a request: a code with its parameters. */
export interface Reason {
  readonly code: ReasonCode
  readonly parameters?: Readonly<Record<string, string>>
}

/** A reasoning part was finished. `signature` is opaque and is sent back to the provider. */
export interface ReasoningCompleted {
  readonly content: Text
  readonly signature?: string
}

/** A reasoning part was interrupted; the content is the text so far. */
export interface ReasoningInterrupted {
  readonly content: Text
}

/** Reasoning of a model, or its summary. */
export interface ReasoningPart {
  readonly kind: 'reasoning_summary'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly state: PartState
  readonly content: Text
}

/** Disconnect from a tool server and connect again. */
export interface ReconnectServer {
  readonly workspaceId: string
  readonly server: string
}

/** A pointer to content. `type` is the type of the content, such as diff, file or evidence. */
export interface Ref {
  readonly type: string
  readonly ref: string
}

/**
 * A remote agent delivered a complete artifact, which replaces a former one with the same id.
 *
 * `left_out` counts the parts beyond the limit, which are not stored.
 */
export interface RemoteArtifact {
  readonly remoteTaskId: string
  readonly remoteArtifactId: string
  readonly name?: string
  readonly description?: string
  readonly parts?: readonly RemotePart[]
  readonly leftOut?: number
}

/**
 * A part of a remote artifact: text, JSON data as text, or a file with its bytes in `content`.
 *
 * `url` is the agent's address of the file; Callboard does not fetch it.
 */
export interface RemotePart {
  readonly media: string
  readonly name?: string
  readonly text?: Text
  readonly content?: BlobRef | null
  readonly url?: string
}

/** The newest state of a remote agent's task for this turn, and the names of its artifacts. */
export interface RemoteStatusPart {
  readonly kind: 'remote_agent_status'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly agentId: string
  readonly remoteTaskId: string
  readonly taskState: 'auth_required' | 'canceled' | 'completed' | 'failed' | 'input_required' | 'rejected' | 'submitted' | 'unknown' | 'working'
  readonly message?: Text
  readonly artifacts?: readonly string[]
}

/**
 * A remote agent reported a state of its task, with a `message` (Agent UI specification, Remote protocol task).
 *
 * The state is `unknown` if it is not in the vocabulary, or if the agent stopped reporting.
 */
export interface RemoteTaskChanged {
  readonly remoteTaskId: string
  readonly state: 'auth_required' | 'canceled' | 'completed' | 'failed' | 'input_required' | 'rejected' | 'submitted' | 'unknown' | 'working'
  readonly message?: Text
}

/**
 * A remote agent's reports about itself and its newest task.
 *
 * `card` is its Agent Card as JSON. `task_state` was reported at `told_at` (microseconds since the
 * epoch). `artifacts` are the newest fifty; older ones may be without their parts.
 */
export interface RemoteWork {
  readonly url: string
  readonly name?: string
  readonly version?: string
  readonly card?: Text
  readonly taskId?: string
  readonly taskState?: 'auth_required' | 'canceled' | 'completed' | 'failed' | 'input_required' | 'rejected' | 'submitted' | 'unknown' | 'working' | null
  readonly message?: Text
  readonly toldAt?: number
  readonly artifacts?: readonly DeliveredArtifact[]
}

/** Remove the row with this key. */
export interface Remove {
  readonly op: 'remove'
  readonly panel: string
  readonly key: string
}

/** Remove a turn from the queue. */
export interface RemoveQueuedTurn {
  readonly sessionId: string
  readonly turnId: string
  readonly reason?: string
}

/** Remove a secret from the system's keyring. */
export interface RemoveSecret {
  readonly name: string
}

/** The required reply arrived, or its deadline passed. Then the sender, in `to_thread`, is notified. */
export interface ReplyEnded {
  readonly end: 'answered' | 'expired'
  readonly toThread: string
  readonly by?: string
}

/**
 * Ask an agent for a verdict on work.
 *
 * `thread_id` is the thread that asks; it defaults to the lead's.
 */
export interface RequestReview {
  readonly reviewer: string
  readonly target?: string | null
  readonly instructions?: string
  readonly refs?: readonly Ref[]
  readonly sessionId: string
  readonly threadId?: string | null
}

/**
 * The requested change of a file.
 *
 * `differs` is False if the file would stay equal. It and the line counts are absent if the
 * preview is incomplete, the counts also for binary content.
 */
export interface RequestedChange {
  readonly path: string
  readonly creates?: boolean
  readonly differs?: boolean | null
  readonly added?: number | null
  readonly removed?: number | null
}

/**
 * A permission that a folder's files request.
 *
 * `code` with `parameters` is the permission, `detail` the same in English. `file` is relative to
 * the folder.
 */
export interface RequestedPermission {
  readonly what: 'agent' | 'hook' | 'permission_mode' | 'rule' | 'server' | 'shell'
  readonly code: RequestedPermissionCode
  readonly parameters?: Readonly<Record<string, string>>
  readonly detail: string
  readonly file: string
}

/**
 * Resolve a pending action on behalf of a host policy or an approval system.
 *
 * The decision and the scope must be offered by the action.
 */
export interface ResolvePermission {
  readonly sessionId: string
  readonly actionId: string
  readonly decision: 'approve' | 'reject'
  readonly policy: string
  readonly scope?: ApprovalScope
  readonly reason?: string
  readonly expiresAt?: number
}

/**
 * Resolve a pending action.
 *
 * A second answer changes nothing and returns the first decision. `answer` is valid with the decision `answer` only.
 * An approval with a wider scope than `once` can expire at `expires_at`, in microseconds since the epoch.
 * `permission_mode` is valid with the approval of a plan from a planning turn. It must be one of the action's `modes`,
 * whose first is the default; the next turn runs in that mode. `unattended` marks a rejection that no person gave,
 * because no person could be asked.
 */
export interface RespondAction {
  readonly sessionId: string
  readonly actionId: string
  readonly decision: Decision
  readonly scope?: ApprovalScope
  readonly reason?: string
  readonly answer?: string | null
  readonly expiresAt?: number
  readonly permissionMode?: 'ask' | 'edits' | 'full' | null
  readonly unattended?: boolean
}

/**
 * Accept, reject or return a handoff on behalf of its receiver.
 *
 * `complete` returns an ownership that was taken over.
 */
export interface RespondHandoff {
  readonly handoffId: string
  readonly decision: 'accept' | 'complete' | 'reject'
  readonly reason?: string
  readonly sessionId: string
}

/**
 * Resume a paused job.
 *
 * Interrupted items continue, and waiting items start as slots become free.
 */
export interface ResumeJob {
  readonly sessionId: string
  readonly jobId: string
  readonly reason?: string
}

/** Resume a paused task and its subtasks. */
export interface ResumeTask {
  readonly sessionId: string
  readonly taskId: string
  readonly reason?: string
}

/**
 * Resume a paused thread and its queue.
 *
 * With `tree` the agent and its children that stopped with their process continue as well.
 */
export interface ResumeThread {
  readonly sessionId: string
  readonly threadId?: string | null
  readonly tree?: boolean
  readonly reason?: string
}

/**
 * Retry a failed save or a failed export.
 *
 * A save uses the stored draft, on top of `base_version` if that is given; it must be the newest version.
 */
export interface RetryArtifact {
  readonly sessionId: string
  readonly artifactId: string
  readonly baseVersion?: number | null
  readonly exportId?: string | null
  readonly reason?: string
}

/**
 * Start another attempt of one failed item, or of all failed items.
 *
 * Finished items are not run again.
 */
export interface RetryJobItem {
  readonly sessionId: string
  readonly jobId: string
  readonly reason?: string
  readonly itemId?: string | null
}

/**
 * Start another attempt of a task whose newest attempt failed or was cancelled.
 *
 * Former attempts stay unchanged.
 */
export interface RetryTask {
  readonly sessionId: string
  readonly taskId: string
  readonly reason?: string
  readonly assignee?: string | null
}

/** The requested changes were sent to their assignees, or the approved work was accepted. */
export interface ReviewApplied {
  readonly reviewer: string
  readonly target: string
  readonly by?: string
}

/** The review with its verdict. */
export interface ReviewChanged {
  readonly sessionId: string
  readonly reviewId: string
  readonly verdict: 'changes_requested' | 'failed' | 'passed'
  readonly sequence: number
}

/** A requested change. `assignee` is an agent, empty for the agent that did the work. */
export interface ReviewFix {
  readonly text: string
  readonly ref?: string
  readonly assignee?: string
}

/** The requested review. */
export interface ReviewOpened {
  readonly sessionId: string
  readonly reviewId: string
  readonly taskId: string
  readonly sequence: number
}

/**
 * `reviewer` was asked to judge the work of `target`; both are agents.
 *
 * `refs` are the work. `item` is the request's id in the inbox of `to_thread`.
 */
export interface ReviewRequested {
  readonly reviewer: string
  readonly target: string
  readonly item?: string
  readonly toThread?: string
  readonly instructions?: Text
  readonly refs?: readonly Ref[]
}

/** An entry of the review lane; the key is the review's id. */
export interface ReviewRow {
  readonly kind: 'review'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly reviewer: string
  readonly target: string
  readonly taskId: string
  readonly state: 'applied' | 'changes_requested' | 'failed' | 'passed' | 'requested' | 'reviewing' | 'unknown'
  readonly instructions?: Text
  readonly summary?: string
  readonly refs?: readonly Ref[]
  readonly fixes?: readonly ReviewFix[]
  readonly assignedTo?: string
  readonly requested?: number
  readonly judged?: number
}

/**
 * The reviewer gave a verdict.
 *
 * The requested changes become input of their assignees when the review is applied.
 */
export interface ReviewVerdict {
  readonly reviewer: string
  readonly target: string
  readonly verdict: 'changes_requested' | 'failed' | 'passed'
  readonly summary?: string
  readonly refs?: readonly Ref[]
  readonly fixes?: readonly ReviewFix[]
}

/**
 * Revoke a rule.
 *
 * A rule of a file is removed from that file.
 */
export interface RevokeRule {
  readonly ruleId: string
  readonly workspaceId?: string | null
  readonly sessionId?: string | null
  readonly reason?: string
}

/** Revoke the trust in a folder; its own files allow nothing from then on. */
export interface RevokeTrust {
  readonly workspaceId: string
  readonly reason?: string
}

/**
 * Restore an earlier version of an artifact as a new version.
 *
 * `base_version` is the newest version that the caller read.
 */
export interface RollbackArtifact {
  readonly sessionId: string
  readonly artifactId: string
  readonly version: number
  readonly baseVersion: number
  readonly reason?: string
}

/**
 * The first `model` of the next input, as `PROVIDER/MODEL`.
 *
 * `images`: it or a fallback accepts images; otherwise `submit_turn` refuses them. `running_model`
 * and `running_images` are the same for input steered into the running turn, empty and False for
 * none.
 */
export interface RoutePreview {
  readonly model: string
  readonly images: boolean
  readonly runningModel?: string
  readonly runningImages?: boolean
}

/**
 * The model of a run was chosen.
 *
 * With a single candidate that is the `reason`. `fallbacks` replace a model that failed
 * permanently, in order; another such fact then records the next one.
 */
export interface RoutingResolved {
  readonly candidates: readonly Candidate[]
  readonly chosen: Candidate
  readonly reason: string
  readonly fallbacks?: readonly Candidate[]
}

/**
 * A permission rule.
 *
 * `matcher` is `Tool` or `Tool(pattern)`: a glob over the path for file tools, a command prefix
 * that ends in `*` or an exact command for the shell. `expires_at` is in microseconds since the
 * epoch, 0 for never. `declared` is the hash of a server's declaration of its tool at the
 * approval; the rule does not apply to another declaration.
 */
export interface Rule {
  readonly ruleId: string
  readonly matcher: string
  readonly verdict: Verdict
  readonly scope: RuleScope
  readonly expiresAt?: number
  readonly declared?: string
}

/** The id of the rule. */
export interface RuleChanged {
  readonly ruleId: string
  readonly sequence: number
}

/** A permission rule. `matcher` is as in `contracts.facts.permission.Rule`. */
export interface RuleEntry {
  readonly matcher: string
  readonly verdict: Verdict
}

/** The rules. */
export interface RuleList {
  readonly rules: readonly ListedRule[]
}

/**
 * A run (Multi-agent runtime specification, Run model); the key is its id.
 *
 * `detail` is a code or a cause. `prompts` are the layers of its prompt, as blobs.
 *
 * A running status is valid while `epoch` is alive; afterwards readers show it as failed, `lost`.
 */
export interface RunRow {
  readonly kind: 'run'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly agentId: string
  readonly agentKind: AgentKind
  readonly threadId: string
  readonly turnId: string
  readonly status: 'cancelled' | 'completed' | 'failed' | 'running'
  readonly parentRunId?: string
  readonly taskId?: string
  readonly detail?: string
  readonly started?: number
  readonly ended?: number
  readonly usage?: WorkUsage
  readonly prompts?: readonly PromptRef[]
  readonly epoch?: number
}

/**
 * The confinement of one call.
 *
 * The level `paths` is for file tools: they open paths from the folder's handle and follow no
 * link. `limits` are the command's limits with what enforces them.
 */
export interface SandboxApplied {
  readonly level: SandboxLevel
  readonly network?: boolean
  readonly writable?: readonly string[]
  readonly seccomp?: boolean
  readonly detail?: string
  readonly limits?: Readonly<Record<string, Readonly<Record<string, number>>>>
}

/** A secret without its value. A `key` is sent to its provider only, never to a tool. */
export interface SecretInfo {
  readonly name: string
  readonly place: 'environment' | 'keyring' | 'process' | 'settings'
  readonly key?: boolean
}

/**
 * The secrets by name, without values.
 *
 * `problem` explains why the keyring is unavailable; empty if it is available.
 */
export interface SecretList {
  readonly secrets: readonly SecretInfo[]
  readonly problem?: string
}

/** The keyring has no value of this name now. */
export interface SecretRemoved {
  readonly name: string
}

/** The storage place of the value, and the handle to use in its place. */
export interface SecretStored {
  readonly name: string
  readonly place: string
  readonly handle: string
}

/**
 * Send a handoff over an edge to the inbox of an agent.
 *
 * `thread_id` is the sender's thread; it defaults to the lead's.
 */
export interface SendHandoff {
  readonly to: string
  readonly message: string
  readonly structured?: Readonly<Record<string, unknown>> | null
  readonly artifacts?: readonly Ref[]
  readonly status?: HandoffStatus | null
  readonly response?: Expectation | null
  readonly contextRef?: string
  readonly meta?: Readonly<Record<string, unknown>> | null
  readonly ownership?: boolean
  readonly resumeTarget?: string
  readonly reason?: string
  readonly sessionId: string
  readonly threadId?: string | null
}

/**
 * Send a message to agents of the session, which receive it in their next turn.
 *
 * `thread_id` is the sender's thread; it defaults to the lead's.
 */
export interface SendMessage {
  readonly to: readonly string[]
  readonly text: string
  readonly sessionId: string
  readonly threadId?: string | null
}

/**
 * Send text to a child.
 *
 * An ended child continues with the text as further work.
 */
export interface SendSubagentInput {
  readonly agent: string
  readonly text: string
  readonly sessionId: string
}

/** The tool server after the attempt, connected or lost. */
export interface ServerChanged {
  readonly server: ServerState
}

/** The tool servers, in the order of the settings. */
export interface ServerList {
  readonly servers: readonly ServerState[]
}

/**
 * The current state of a tool server.
 *
 * `name` is its name in the settings; `title`, `version` and `protocol` are its own. `refused` of
 * its `tools` are invalid, for the reasons in `refusals`. `prompts` are the names of its prompts,
 * which agents cannot use. `code` and `message` explain a loss; `said` is the end of its
 * diagnostic output.
 */
export interface ServerState {
  readonly name: string
  readonly transport: 'http' | 'stdio'
  readonly condition?: 'connected' | 'connecting' | 'idle' | 'lost'
  readonly title?: string
  readonly version?: string
  readonly protocol?: string
  readonly tools?: number
  readonly refused?: number
  readonly refusals?: readonly string[]
  readonly prompts?: readonly string[]
  readonly deferred?: boolean
  readonly code?: string
  readonly message?: string
  readonly said?: string
}

/** A session was archived or restored. */
export interface SessionArchived {
  readonly sessionId: string
  readonly archived: boolean
}

/**
 * A session in the list.
 *
 * `order` is the time of its newest turn. A running state reads `lost` once `epoch` is dead.
 * `driven` are the conversations of its external agents, by their own ids. `problem` and
 * `problem_code` explain the state `damaged`.
 */
export interface SessionCard {
  readonly kind: 'session_card'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly sessionId: string
  readonly workspaceId: string
  readonly title: string
  readonly state: SessionState
  readonly attention?: Attention
  readonly pendingActions?: number
  readonly queued?: number
  readonly turns?: number
  readonly updatedAt?: number
  readonly pinned?: boolean
  readonly archived?: boolean
  readonly lastText?: string
  readonly epoch?: number
  readonly driven?: readonly string[]
  readonly problem?: string
  readonly problemCode?: string
}

/**
 * The first fact of a session.
 *
 * `folder` is the absolute path in which its agents work. An imported session has a `source` and
 * is read-only; its facts have the times of the source.
 */
export interface SessionCreated {
  readonly workspaceId: string
  readonly folder: string
  readonly title: string
  readonly source?: 'claude_code' | 'codex' | null
  readonly sourceId?: string
}

/** A session was deleted with its whole stream. `last_sequence` and `link` are the end of its chain. */
export interface SessionDeleted {
  readonly sessionId: string
  readonly lastSequence: number
  readonly link: string
}

/**
 * The sessions.
 *
 * With `rebuilding` some rows are being rebuilt from the log, and `missing` sessions are not in
 * the list yet. Without it the missing sessions cannot be opened; `callboard.log` has the reason.
 * An unreadable session is listed in the state `damaged` with its `problem`.
 */
export interface SessionList {
  readonly sessions: readonly SessionCard[]
  readonly rebuilding?: boolean
  readonly missing?: number
}

/** A session of this workspace was created. Its own stream has the rest. */
export interface SessionListed {
  readonly sessionId: string
  readonly title: string
}

/** A session was pinned or unpinned. */
export interface SessionPinned {
  readonly sessionId: string
  readonly pinned: boolean
}

/**
 * The session.
 *
 * `cursor` is `sequence.n`, to send as Last-Event-ID. `head` is the newest sequence of the log.
 */
export interface SessionRead {
  readonly session: SessionRow
  readonly threads: readonly StatusRow[]
  readonly turns: readonly TurnRow[]
  readonly cursor: string
  readonly head: number
}

/**
 * The header of a session, the only row of its panel.
 *
 * Times are in microseconds since the epoch. A session with a `source` was imported from that
 * product and is read-only. `state` and `attention` are those of its card; a running state reads
 * `lost` once `epoch` is dead. With `has_unknown_facts` a newer version wrote facts that this one
 * cannot read: the session is read-only until Callboard is updated.
 */
export interface SessionRow {
  readonly kind: 'session'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly sessionId: string
  readonly workspaceId: string
  readonly folder: string
  readonly title: string
  readonly createdAt: number
  readonly updatedAt: number
  readonly archived?: boolean
  readonly source?: 'claude_code' | 'codex' | null
  readonly state?: SessionState
  readonly attention?: Attention
  readonly epoch?: number
  readonly hasUnknownFacts?: boolean
}

/**
 * Agents of a session got a schedule, or lost their last one.
 *
 * A scheduled session opens when the process starts, so that it misses no time.
 */
export interface SessionScheduled {
  readonly sessionId: string
  readonly scheduled: boolean
}

/**
 * Bytes of a session's facts, and bytes (`contents`) and number (`blobs`) of its blobs.
 *
 * Blobs of several sessions count for each.
 */
export interface SessionSize {
  readonly sessionId: string
  readonly facts: number
  readonly blobs: number
  readonly contents: number
}

/** A new epoch took over a session whose process ended without closing it. */
export interface SessionTakenOver {
  readonly previousEpoch: number
  readonly epoch: number
}

/** The title of a session changed. */
export interface SessionTitled {
  readonly sessionId: string
  readonly title: string
}

/**
 * Retention is about to delete large contents of an archived session.
 *
 * It deletes `blobs` blobs of `size` bytes in total. The facts stay, with the head and tail of
 * each content.
 */
export interface SessionTrimmed {
  readonly sessionId: string
  readonly blobs: number
  readonly size: number
}

/** The session with its new properties. */
export interface SessionUpdated {
  readonly sessionId: string
  readonly title: string
  readonly pinned: boolean
  readonly archived: boolean
  readonly sequence: number
}

/**
 * Pin files and folders that every turn of a thread receives, starting with the next one.
 *
 * The paths replace all former pins. An empty list removes them.
 */
export interface SetContext {
  readonly sessionId: string
  readonly threadId?: string | null
  readonly pinned: readonly string[]
}

/**
 * Store a secret in the system's keyring.
 *
 * A value of the same name is replaced. Everywhere else the secret's handle is used.
 */
export interface SetSecret {
  readonly name: string
  readonly value: string
}

/**
 * A person changed settings here.
 *
 * `keys` are the changed keys, `digest` the SHA-256 in hex of the written file. Values are private
 * and not in the log.
 */
export interface SettingsChanged {
  readonly place: 'folder' | 'user'
  readonly keys: readonly string[]
  readonly digest: string
}

/**
 * A problem of a settings file, with its key and the expected value.
 *
 * With `keeps_last` the last valid content stays in effect; otherwise every call in the folder
 * requires approval. `code` is a `SettingsProblemCode` with `params`; `message` is the same in
 * English. An empty code has only the message.
 */
export interface SettingsProblem {
  readonly file: string
  readonly message: string
  readonly field?: string
  readonly hint?: string
  readonly keepsLast?: boolean
  readonly code?: string
  readonly params?: Readonly<Record<string, string>>
}

/**
 * A settings file: its `values`, and the effective settings in `holding`, as JSON with every secret as `********`.
 *
 * `json_schema` describes `values`. `digest` is the SHA-256 of the file in hex, empty for no file.
 * `values` is empty for an unreadable file, which `problems` explain.
 */
export interface SettingsRead {
  readonly place: 'folder' | 'user'
  readonly path: string
  readonly digest: string
  readonly values: Readonly<Record<string, unknown>>
  readonly holding: Readonly<Record<string, unknown>>
  readonly jsonSchema: Readonly<Record<string, unknown>>
  readonly problems: readonly SettingsProblem[]
}

/** The changed keys, and the new digest of the file. */
export interface SettingsUpdated {
  readonly place: 'folder' | 'user'
  readonly path: string
  readonly digest: string
  readonly keys: readonly string[]
}

/** The sizes of all sessions. */
export interface SizeList {
  readonly sizes: readonly SessionSize[]
}

/** The task's `TaskSnapshot` is complete up to the sequence `through`. */
export interface SnapshotUpdated {
  readonly through: number
}

/**
 * Create a child agent with parent links and isolation.
 *
 * The child starts immediately or waits for a slot. `thread_id` is the parent's thread; it defaults to the lead's.
 */
export interface SpawnSubagent {
  readonly agent: string
  readonly objective: string
  readonly title?: string
  readonly role?: 'custom' | 'executor' | 'planner' | 'researcher' | 'reviewer' | 'writer' | null
  readonly isolation?: 'read_only' | 'shared' | 'worktree' | null
  readonly workGlobs?: readonly string[]
  readonly review?: boolean
  readonly permissionMode?: PermissionMode | null
  readonly reason?: string
  readonly sessionId: string
  readonly threadId?: string | null
}

/**
 * Play a demo: a real run in a new folder, with a script in place of the model.
 *
 * The folder becomes a workspace. The team receives the demo's objective in a new session.
 */
export interface StartDemo {
  readonly name: string
}

/**
 * Start the first attempt of a task.
 *
 * Its agent gets a turn, a child is created for it, or a person works on it. `assignee` defaults to the task's
 * assignee.
 */
export interface StartTask {
  readonly sessionId: string
  readonly taskId: string
  readonly reason?: string
  readonly assignee?: string | null
}

/**
 * The status line of a thread at the fact `sequence`.
 *
 * `since` is that fact's time in microseconds.
 *
 * A running status is valid while `epoch` is alive; afterwards readers show `lost`.
 */
export interface StatusRow {
  readonly kind: 'status'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly threadId: string
  readonly agentId: string
  readonly agentName: string
  readonly status: RuntimeStatus
  readonly detail: StatusDetail
  readonly since: number
  readonly turnId?: string
  readonly runId?: string
  readonly tool?: string
  readonly provider?: string
  readonly model?: string
  readonly iteration?: number
  readonly maxIters?: number
  readonly paused?: PauseCause | null
  readonly epoch?: number
  readonly inputTokens?: number | null
  readonly outputTokens?: number | null
}

/** The model call in the scope's step includes the steer. */
export interface SteerAccepted {
  readonly steerId: string
}

/** Input steered into a running turn. */
export interface SteerPart {
  readonly kind: 'user_text'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly steerId: string
  readonly outcome: 'accepted' | 'pending' | 'rejected'
  readonly content: Text
  readonly reason?: string
  readonly given?: readonly ContextRef[]
  readonly missing?: readonly MissingRef[]
}

/** The input, for the next model call of the turn. */
export interface SteerQueued {
  readonly sessionId: string
  readonly turnId: string
  readonly steerId: string
  readonly sequence: number
}

/** The turn ended before a model call could include the steer. The sender's draft is kept. */
export interface SteerRejected {
  readonly steerId: string
  readonly input: Text
  readonly reason: SteerRejection
}

/** Input was sent to a running turn, for its next model call. `given` and `missing` are as in `TurnSubmitted`. */
export interface SteerRequested {
  readonly steerId: string
  readonly input: Text
  readonly given?: readonly ContextRef[]
  readonly missing?: readonly MissingRef[]
}

/** Add input to a running turn, for its next model call. */
export interface SteerTurn {
  readonly sessionId: string
  readonly text: string
  readonly threadId?: string | null
  readonly steerId?: string | null
  readonly attachments?: readonly Attachment[]
}

/** A person, the parent or the parent's end cancelled the child's work. */
export interface SubagentCancelled {
  readonly reason?: string
  readonly result?: Text
  readonly usage?: WorkUsage
}

/**
 * The child accepts no more work; its transcript stays.
 *
 * `worktree`, `branch` and `base` are its former worktree.
 */
export interface SubagentClosed {
  readonly reason?: string
  readonly worktree?: string
  readonly branch?: string
  readonly base?: string
}

/**
 * The child met its objective, and a required review has its verdict.
 *
 * With `plain_text` it answered in plain text and did not finalize: the parent must judge whether
 * the objective is met.
 */
export interface SubagentCompleted {
  readonly result: Text
  readonly usage?: WorkUsage
  readonly plainText?: boolean
}

/** An ended child received more work and needs a slot again. */
export interface SubagentContinued {
}

/** The child ended without meeting its objective. `result` is its result so far. */
export interface SubagentFailed {
  readonly code: string
  readonly message: string
  readonly result?: Text
  readonly usage?: WorkUsage
}

/** The open agents of the session. */
export interface SubagentGraph {
  readonly sessionId: string
  readonly agents: readonly GraphAgent[]
  readonly sequence: number
}

/** The child got a git worktree: `path` is absolute, `branch` is the branch to merge, `base` a commit. */
export interface SubagentIsolated {
  readonly path: string
  readonly branch: string
  readonly base: string
}

/** A person requested the merge of the child's worktree into its parent's folder. `subagent.merged` follows. */
export interface SubagentMergeRequested {
  readonly reason?: string
}

/**
 * The result of a requested merge, complete or without effect.
 *
 * `files` were changed; files in `conflict` prevented the merge; at most 500 of each. `unknown`:
 * the process ended during the merge, which can be requested again.
 */
export interface SubagentMerged {
  readonly status: 'conflict' | 'failed' | 'merged' | 'nothing_to_merge' | 'unknown'
  readonly files?: readonly string[]
  readonly conflict?: readonly string[]
  readonly message?: string
}

/** The child waits for a slot. `position` counts from 1. `group` is the provider. */
export interface SubagentQueued {
  readonly queueReason: 'parallel_budget' | 'provider_budget' | 'worktree'
  readonly position: number
  readonly group: string
}

/** A child was created with its limits. `subagent.started` follows when it has a slot. */
export interface SubagentSpawned {
  readonly role: 'custom' | 'executor' | 'planner' | 'researcher' | 'reviewer' | 'writer'
  readonly objective: Text
  readonly isolation: 'read_only' | 'shared' | 'worktree'
  readonly workGlobs?: readonly string[]
  readonly review?: boolean
  readonly reason?: string
}

/** The child got a slot and works. `group` is the provider, whose slot it also uses. */
export interface SubagentStarted {
  readonly role: 'custom' | 'executor' | 'planner' | 'researcher' | 'reviewer' | 'writer'
  readonly group?: string
}

/** The call in the scope waits for these children until `until` (microseconds since the epoch, 0 for no limit). */
export interface SubagentsAwaited {
  readonly agents: readonly string[]
  readonly mode: 'all' | 'any'
  readonly until?: number
}

/**
 * Accept input, and start or queue a turn.
 *
 * Without `session_id` a session is created in `workspace_id`. Names after an @ in the text are resolved at that moment
 * and added to the context. `permission_mode` defaults to the mode of the thread's last turn, in a new thread to the
 * folder's default.
 */
export interface SubmitTurn {
  readonly text: string
  readonly workspaceId?: string | null
  readonly sessionId?: string | null
  readonly threadId?: string | null
  readonly turnId?: string | null
  readonly mode?: Mode
  readonly permissionMode?: PermissionMode | null
  readonly whenBusy?: WhenBusy
  readonly attachments?: readonly Attachment[]
}

/**
 * Record a verdict on a review, or on a child whose work waits for one.
 *
 * Requested changes become input of an assignee when the review is applied.
 */
export interface SubmitVerdict {
  readonly reviewId?: string | null
  readonly agent?: string | null
  readonly verdict: 'changes_requested' | 'failed' | 'passed'
  readonly summary?: string
  readonly refs?: readonly Ref[]
  readonly fixes?: readonly ReviewFix[]
  readonly sessionId: string
}

/**
 * An execution of a task.
 *
 * `number` counts from 1. Times are in microseconds since the epoch, 0 for none.
 */
export interface TaskAttempt {
  readonly number: number
  readonly runId: string
  readonly agentId: string
  readonly status: string
  readonly detail?: string
  readonly started?: number
  readonly ended?: number
}

/**
 * The cancellation of a task was requested.
 *
 * Its work is stopped; then `task.cancelled` follows. Each open subtask has its own fact.
 */
export interface TaskCancelRequested {
  readonly reason?: string
}

/** All work on the task stopped, and the task is cancelled. */
export interface TaskCancelled {
  readonly reason?: string
}

/** The task with its new status. */
export interface TaskChanged {
  readonly sessionId: string
  readonly taskId: string
  readonly status: 'blocked' | 'cancelled' | 'claimed' | 'done' | 'open' | 'reviewing' | 'running'
  readonly sequence: number
}

/**
 * The objective is met.
 *
 * `refs` are the deliverables. With `plain_text` the work ended with an answer in plain text that
 * was not finalized.
 */
export interface TaskCompleted {
  readonly summary?: string
  readonly refs?: readonly Ref[]
  readonly reason?: string
  readonly plainText?: boolean
}

/**
 * A task was created.
 *
 * `assignee` is an agent or empty. `parent_task` is set for a subtask. `entity`: a card
 * of the board, the repeated work of a background agent, or the task of a remote agent.
 */
export interface TaskCreated {
  readonly title: string
  readonly objective?: Text
  readonly assignee?: string
  readonly parentTask?: string
  readonly dependsOn?: readonly string[]
  readonly priority?: 'high' | 'low' | 'normal'
  readonly acceptance?: string
  readonly entity?: 'automation_job' | 'external_task' | 'work_item'
}

/** A task in a list. `job` is the job that it is an item of, or the task of. */
export interface TaskEntry {
  readonly taskId: string
  readonly title: string
  readonly status: 'blocked' | 'cancelled' | 'claimed' | 'done' | 'open' | 'reviewing' | 'running'
  readonly entity: 'automation_job' | 'external_task' | 'work_item'
  readonly paused: boolean
  readonly assignee: string
  readonly parentTask: string
  readonly dependsOn: readonly string[]
  readonly blocker: string
  readonly attempts: readonly TaskAttempt[]
  readonly job?: string
}

/**
 * The newest attempt failed, and the board shows the task as blocked.
 *
 * The code is `interrupted` if its turn was stopped.
 */
export interface TaskFailed {
  readonly code: string
  readonly message: string
  readonly reason?: string
}

/** The tasks, newest first. */
export interface TaskList {
  readonly sessionId: string
  readonly tasks: readonly TaskEntry[]
  readonly sequence: number
}

/**
 * The task was paused.
 *
 * Its running work is asked to stop, and queued work stays queued. Each open subtask has its own
 * fact.
 */
export interface TaskPaused {
  readonly reason?: string
}

/**
 * A task.
 *
 * `snapshot` is the session's `TaskSnapshot` as JSON, complete up to `sequence` (Subagents
 * specification).
 */
export interface TaskRead {
  readonly sessionId: string
  readonly task: TaskEntry
  readonly snapshot: unknown
  readonly sequence: number
}

/** The task was resumed: each stopped agent gets a turn. Each paused subtask has its own fact. */
export interface TaskResumed {
  readonly reason?: string
}

/**
 * A card of the board; the key is the task's id.
 *
 * It has the newest fifty comments and the newest twenty attempts. A `paused` task shows as
 * blocked; a `cancelling` one is being stopped. `phase` and `counters` are the newest reports.
 * `job` is the job that it is an item of, or the task of; then `items` counts its items.
 * `plain_text`: its newest result was not finalized.
 */
export interface TaskRow {
  readonly kind: 'task'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly title: string
  readonly status: 'blocked' | 'cancelled' | 'claimed' | 'done' | 'open' | 'reviewing' | 'running'
  readonly objective?: Text
  readonly assignee?: string
  readonly parentTask?: string
  readonly dependsOn?: readonly string[]
  readonly priority?: 'high' | 'low' | 'normal'
  readonly acceptance?: string
  readonly blocker?: string
  readonly progress?: string
  readonly summary?: string
  readonly plainText?: boolean
  readonly comments?: readonly Comment[]
  readonly attempts?: readonly AttemptRow[]
  readonly refs?: readonly Ref[]
  readonly entity?: 'automation_job' | 'external_task' | 'work_item'
  readonly paused?: boolean
  readonly cancelling?: boolean
  readonly phase?: string
  readonly counters?: Readonly<Record<string, number>>
  readonly job?: string
  readonly items?: JobItems | null
  readonly created?: number
  readonly ended?: number
}

/**
 * The attempt in the scope began.
 *
 * `assignee` works on it in the scope's turn, which may be queued; without a turn a person works
 * on it.
 */
export interface TaskStarted {
  readonly assignee: string
  readonly reason?: string
}

/**
 * Fields of a task changed; None is unchanged.
 *
 * `status` is the board's label. `phase` and `counters` report progress in the worker's own terms.
 */
export interface TaskUpdated {
  readonly status?: 'blocked' | 'cancelled' | 'claimed' | 'done' | 'open' | 'reviewing' | 'running' | null
  readonly title?: string | null
  readonly assignee?: string | null
  readonly priority?: 'high' | 'low' | 'normal' | null
  readonly blocker?: string | null
  readonly dependsOn?: readonly string[] | null
  readonly progress?: string | null
  readonly comment?: string | null
  readonly phase?: string | null
  readonly counters?: Readonly<Record<string, number>> | null
  readonly refs?: readonly Ref[] | null
  readonly parentTask?: string | null
  readonly reason?: string
}

/**
 * The load of a team changed (Agent UI specification, queue and parallelism facts).
 *
 * The scope's thread is its lead's. Counts are of the lead's children; a `group` is those of one
 * provider, with its own budget.
 */
export interface TeamChanged {
  readonly phase: 'active' | 'done' | 'forming' | 'merging' | 'waiting'
  readonly parallelBudget: number
  readonly activeCount: number
  readonly queuedCount: number
  readonly group?: string
  readonly groupBudget?: number
  readonly queueReason?: 'parallel_budget' | 'provider_budget' | 'worktree' | null
}

/**
 * The team of a session: one row once there is a second agent.
 *
 * `owner` receives the person's input. `synthesis_turn` is the lead's turn that combines the
 * results. Counts are of children.
 */
export interface TeamRow {
  readonly kind: 'team'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly name: string
  readonly lead: string
  readonly owner: string
  readonly topology: 'background_teammate' | 'coordinator_team' | 'human_agent_board' | 'parallel_workers' | 'remote_teammate' | 'review_team' | 'solo_run' | 'specialist_handoff'
  readonly teamPhase?: 'active' | 'done' | 'forming' | 'merging' | 'waiting' | null
  readonly teamParallelBudget?: number
  readonly teamActiveCount?: number
  readonly teamQueuedCount?: number
  readonly providerConcurrencyGroup?: string
  readonly providerParallelBudget?: number
  readonly queueReason?: 'parallel_budget' | 'provider_budget' | 'worktree' | null
  readonly retryableOverload?: boolean
  readonly degraded?: readonly ('lineage_unavailable' | 'permission_blocked' | 'remote_unavailable' | 'snapshot_stale' | 'solo_run')[]
  readonly synthesisTurn?: string
}

/** Terminate a background process and all its descendants. */
export interface TerminateProcess {
  readonly sessionId: string
  readonly processId: string
  readonly reason?: string
}

/**
 * A text of any length.
 *
 * Without `ref`, `text` is complete. With `ref`, `text` is the head of the blob and `tail` its
 * end.
 *
 * `erased` is set in rows only: the fact with the text was erased.
 */
export interface Text {
  readonly text?: string
  readonly ref?: BlobRef | null
  readonly erased?: boolean
  readonly tail?: string
}

/**
 * A text part of the assistant.
 *
 * A `commentary` was followed by a tool call, so it is not the answer. `revised`: the final text
 * differs from the streamed one.
 */
export interface TextPart {
  readonly kind: 'assistant_text'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly state: PartState
  readonly content: Text
  readonly commentary?: boolean
  readonly revised?: boolean
}

/** The thread after the command. `turn_id` is its running turn; empty for none. */
export interface ThreadChanged {
  readonly sessionId: string
  readonly threadId: string
  readonly turnId: string
  readonly sequence: number
}

/**
 * An agent joined the session with a new thread; `agent_name` is its id.
 *
 * `definition_hash` is the hash of its definition, `policy` its permissions. A child has its
 * parent in the scope. `url` is the address of a remote agent's card.
 */
export interface ThreadOpened {
  readonly agentName: string
  readonly kind: AgentKind
  readonly definition: string
  readonly definitionHash: string
  readonly description?: string
  readonly role?: 'custom' | 'executor' | 'planner' | 'researcher' | 'reviewer' | 'writer'
  readonly aliases?: readonly string[]
  readonly edges?: readonly Edge[]
  readonly color?: string
  readonly policy?: readonly ('Delegate' | 'Finalize' | 'Patch')[]
  readonly url?: string
}

/**
 * The thread starts no turn until it is resumed; its queue stays.
 *
 * `evidence` are the ids of the steps that show why.
 */
export interface ThreadPaused {
  readonly cause: PauseCause
  readonly reason?: string
  readonly evidence?: readonly string[]
}

/** The state of a thread. `head` is the newest sequence of the log. */
export interface ThreadRead {
  readonly status: StatusRow
  readonly actions: readonly ActionRow[]
  readonly queue: readonly QueueRow[]
  readonly lastTurn: TurnRow | null
  readonly incidents: readonly Incident[]
  readonly head: number
}

/** The thread continues with its queue. */
export interface ThreadResumed {
  readonly reason?: string
}

/** The call was stopped, or not `started`, because its turn ended. `output` is the output so far. */
export interface ToolCancelled {
  readonly started: boolean
  readonly output?: Text
  readonly durationMs?: number
  readonly changes?: readonly FileChange[]
}

/**
 * The agent's tools changed.
 *
 * `catalog` has each tool with its availability and reason, as JSON
 * (`contracts.entities.tool_inventory.ToolInfo`). `added` are tools that the run's model found by
 * searching.
 */
export interface ToolCatalogResolved {
  readonly catalog: BlobRef
  readonly loaded: number
  readonly deferred?: number
  readonly blocked?: number
  readonly excluded?: number
  readonly added?: readonly string[]
}

/** The tool finished after `duration_ms` of wall time. `images` are part of the result. */
export interface ToolCompleted {
  readonly output: Text
  readonly durationMs?: number
  readonly exitCode?: number | null
  readonly changes?: readonly FileChange[]
  readonly images?: readonly BlobRef[]
}

/** The tool ran and reported an error. `output` is its output before that. */
export interface ToolFailed {
  readonly code: string
  readonly message: string
  readonly output?: Text
  readonly durationMs?: number
  readonly exitCode?: number | null
  readonly changes?: readonly FileChange[]
}

/**
 * A tool as one agent has it.
 *
 * `source` is `folder`, `team`, or `mcp:` and the server's name. `reason` explains why it is not
 * loaded. `destructive`: its effect may be permanent. A server's claims about `destructive` and
 * `read_only` decide nothing alone.
 */
export interface ToolInfo {
  readonly name: string
  readonly source: string
  readonly availability: 'blocked' | 'deferred' | 'excluded' | 'loaded'
  readonly reason?: string
  readonly description?: string
  readonly readOnly?: boolean
  readonly destructive?: boolean
  readonly concurrency?: 'parallel' | 'serial'
  readonly interruption?: 'asked' | 'ended'
}

/** All tools by name, and the tool servers that provide some. */
export interface ToolInventory {
  readonly agent: string
  readonly tools: readonly ToolInfo[]
  readonly servers: readonly ServerState[]
}

/** The host died while the call ran. Its effect is unknown, and it never runs again automatically. */
export interface ToolLost {
  readonly output?: Text
}

/**
 * A tool call. A large `output` is a preview with a ref.
 *
 * `code` explains why there is no output: refused, failed, cancelled or lost. `done` of `total` is its
 * progress; without `total` the amount is unknown. `asked` are the model's arguments, if a hook
 * replaced them.
 */
export interface ToolPart {
  readonly kind: 'tool_call'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly at: number
  readonly toolCallId: string
  readonly tool: string
  readonly state: ToolState
  readonly summary?: string
  readonly arguments?: Text
  readonly asked?: Text | null
  readonly output?: Text
  readonly code?: string
  readonly message?: string
  readonly exitCode?: number | null
  readonly durationMs?: number
  readonly startedAt?: number
  readonly changes?: readonly FileChange[]
  readonly images?: readonly BlobRef[]
  readonly done?: number | null
  readonly total?: number | null
  readonly verdict?: string
  readonly risk?: Risk
  readonly checks?: readonly Check[]
  readonly sandbox?: string
  readonly network?: boolean
  readonly actionId?: string
}

/** The gate or a person denied the call, which did not run. */
export interface ToolRefused {
  readonly code: string
  readonly message: string
}

/**
 * The model requested a call.
 *
 * `provider_call_id` is the provider's id, never one of Callboard's. `signature` is opaque and is
 * sent back to the provider. `hooked` is the result of hooks, if any.
 */
export interface ToolRequested {
  readonly tool: string
  readonly arguments: Text
  readonly summary?: string
  readonly providerCallId?: string
  readonly signature?: string
  readonly hooked?: HookOutcome | null
}

/**
 * A tool server connected.
 *
 * `server` is its name in the settings; `title` and `version` are its own. `tools` is the number
 * of its tools, `refused` of them invalid.
 */
export interface ToolServerConnected {
  readonly server: string
  readonly title?: string
  readonly version?: string
  readonly protocol?: string
  readonly tools?: number
  readonly refused?: number
}

/** A tool server was unreachable, ended, or broke its protocol. Its tools are blocked until it reconnects. */
export interface ToolServerLost {
  readonly server: string
  readonly code: string
  readonly message: string
}

/** The call passed the gate and runs. Without a terminal fact after it the outcome is unknown. */
export interface ToolStarted {
  readonly tool: string
}

/** The digest that the folder is now trusted by; empty for none. */
export interface TrustChanged {
  readonly workspaceId: string
  readonly trusted: string
  readonly sequence: number
}

/**
 * The trust of a folder.
 *
 * `digest` is the digest to trust it by, empty if its files ask for nothing. `trusted` is the
 * digest that it is trusted by. `problems` are unreadable files, which grant nothing.
 */
export interface TrustRead {
  readonly workspaceId: string
  readonly folder: string
  readonly state: 'changed' | 'nothing' | 'trusted' | 'untrusted'
  readonly digest: string
  readonly trusted: string
  readonly widenings: readonly RequestedPermission[]
  readonly problems: readonly SettingsProblem[]
}

/** Trust a folder: its own files may allow exactly what was shown under this digest. */
export interface TrustWorkspace {
  readonly workspaceId: string
  readonly digest: string
  readonly reason?: string
}

/**
 * Send a short question to a model and report the response or the error.
 *
 * `name` is an entry of `list_models`: `PROVIDER/MODEL` or `MODEL`. It defaults to the default model.
 */
export interface TryModel {
  readonly name?: string
}

/** The accepted turn. `sequence` is its newest fact, to wait for in a read. */
export interface TurnAccepted {
  readonly sessionId: string
  readonly threadId: string
  readonly turnId: string
  readonly status: 'queued' | 'started'
  readonly sequence: number
}

/**
 * The turn finished after `iterations` model calls.
 *
 * With `plain_text` the agent answered in plain text although it had to finalize: the text is its
 * result and does not claim that the objective is met.
 */
export interface TurnCompleted {
  readonly iterations: number
  readonly plainText?: boolean
}

/** The turn failed: the model failed, or a limit such as `max_iters` was reached. */
export interface TurnFailed {
  readonly code: string
  readonly message: string
  readonly hint?: string
  readonly retryable?: boolean
  readonly iterations?: number
}

/** The imported turn. `added` is False if it existed already. */
export interface TurnImported {
  readonly sessionId: string
  readonly turnId: string
  readonly added: boolean
  readonly sequence: number
}

/** An interrupt was requested. The facts of stopped work follow, then `turn.interrupted`. */
export interface TurnInterruptRequested {
  readonly queued?: 'clear' | 'keep'
  readonly cause?: InterruptCause
  readonly reason?: string
}

/** The turn was interrupted. Facts before this one record the stopped work. */
export interface TurnInterrupted {
  readonly cause: InterruptCause
  readonly reason?: string
  readonly iterations?: number
}

/** The turns, in ascending order. */
export interface TurnList {
  readonly turns: readonly TurnRow[]
}

/**
 * A turn. `order` is the sequence of its submission, later of its start.
 *
 * - `code`, `message`: a failure, or the cause of an interrupt. `source`: origin of the input.
 * - Counts are of the whole run so far. Tokens are absent if the provider reports none.
 * - `waited_us`: microseconds of past waits for decisions. `waiting_since`: start of the present
 * wait, 0 for none.
 * - `final_parts`: keys of the parts of the answer. `given`: context of the input. `missing`:
 * names in it that could not be resolved.
 */
export interface TurnRow {
  readonly kind: 'turn'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly turnId: string
  readonly threadId: string
  readonly agentId: string
  readonly runId?: string
  readonly state: TurnState
  readonly input: Text
  readonly mode: Mode
  readonly permissionMode: PermissionMode
  readonly submittedAt: number
  readonly startedAt?: number
  readonly endedAt?: number
  readonly waitedUs?: number
  readonly waitingSince?: number
  readonly iterations?: number
  readonly toolCalls?: number
  readonly filesChanged?: number
  readonly inputTokens?: number | null
  readonly outputTokens?: number | null
  readonly code?: string
  readonly message?: string
  readonly hint?: string
  readonly finalParts?: readonly string[]
  readonly source?: 'agent' | 'compaction' | 'inbox' | 'notice' | 'person' | 'schedule'
  readonly given?: readonly ContextRef[]
  readonly missing?: readonly MissingRef[]
}

/**
 * A run of the turn began.
 *
 * It pins the workspace's sequence, the definition, the layers of the prompt and the tools of its
 * model.
 */
export interface TurnStarted {
  readonly mode: Mode
  readonly permissionMode: PermissionMode
  readonly maxIters: number
  readonly definition: string
  readonly definitionHash: string
  readonly workspaceSequence: number
  readonly prompts?: readonly PromptRef[]
  readonly tools?: readonly string[]
}

/**
 * Input was accepted for a thread; the next facts start or queue the turn.
 *
 * `given` is the attached and named context, `missing` the names that could not be resolved.
 */
export interface TurnSubmitted {
  readonly input: Text
  readonly mode: Mode
  readonly permissionMode: PermissionMode
  readonly source?: 'agent' | 'compaction' | 'inbox' | 'notice' | 'person' | 'schedule'
  readonly given?: readonly ContextRef[]
  readonly missing?: readonly MissingRef[]
  readonly resumes?: boolean
}

/**
 * Remove links of a task.
 *
 * `parent` removes the link to the parent task.
 */
export interface UnlinkTasks {
  readonly sessionId: string
  readonly taskId: string
  readonly reason?: string
  readonly parent?: boolean
  readonly dependsOn?: readonly string[]
  readonly refs?: readonly Ref[]
}

/**
 * An unreadable transcript: its file name without the folder, and the problem.
 *
 * Only transcripts of the requested folder, or of an unknown folder, are listed.
 */
export interface UnreadableTranscript {
  readonly product: string
  readonly name: string
  readonly problem: string
}

/**
 * Rename, pin or archive a session.
 *
 * An absent field stays unchanged.
 */
export interface UpdateSession {
  readonly sessionId: string
  readonly title?: string | null
  readonly pinned?: boolean | null
  readonly archived?: boolean | null
}

/**
 * Write named keys to a settings file.
 *
 * null removes a key. All other keys and all comments stay unchanged. `digest` is the digest of the file as the caller
 * read it, empty if there was no file. `********` keeps the secret of the entry with the same name.
 */
export interface UpdateSettings {
  readonly changes: Readonly<Record<string, unknown>>
  readonly digest: string
  readonly place?: 'folder' | 'user'
  readonly workspaceId?: string | null
}

/** Change, comment on or end a task of the session's board. */
export interface UpdateTask {
  readonly taskId: string
  readonly status?: 'blocked' | 'cancelled' | 'claimed' | 'done' | 'open' | 'reviewing' | 'running' | null
  readonly title?: string | null
  readonly assignee?: string | null
  readonly priority?: 'high' | 'low' | 'normal' | null
  readonly blocker?: string | null
  readonly progress?: string | null
  readonly comment?: string | null
  readonly reason?: string
  readonly sessionId: string
}

/** Add the row, or replace the row with its key. */
export interface Upsert {
  readonly op: 'upsert'
  readonly panel: string
  readonly row: AnyRow
}

/**
 * A version.
 *
 * `agent_id`, `turn_id` and `tool_call_id` identify an agent's step that made it. `at` is in
 * microseconds since the epoch.
 */
export interface VersionEntry {
  readonly version: number
  readonly content: BlobRef
  readonly versionOrigin: 'agent' | 'found' | 'merge' | 'person' | 'rollback'
  readonly at: number
  readonly base?: number
  readonly restores?: number
  readonly added?: number
  readonly removed?: number
  readonly agentId?: string
  readonly turnId?: string
  readonly toolCallId?: string
}

/**
 * Wait for children.
 *
 * The answer holds the results so far when one child fails or the time is up.
 */
export interface WaitSubagents {
  readonly agents?: readonly string[]
  readonly mode?: 'all' | 'any'
  readonly timeoutS?: number | null
  readonly sessionId: string
  readonly threadId?: string | null
}

/** Something requires attention; nothing was lost. */
export interface WarningRaised {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

/** Usage of a piece of work: tokens, milliseconds, model calls and tool calls. */
export interface WorkUsage {
  readonly inputTokens?: number
  readonly outputTokens?: number
  readonly durationMs?: number
  readonly modelCalls?: number
  readonly toolCalls?: number
}

/**
 * The result of a child, sent to its parent's inbox as `item`.
 *
 * `transcript` is the child's thread. With `plain_text` the child answered in plain text and did
 * not finalize.
 */
export interface WorkerNotification {
  readonly item: string
  readonly toThread: string
  readonly status: 'cancelled' | 'completed' | 'failed' | 'interrupted' | 'needs_input' | 'ready_for_review'
  readonly summary: string
  readonly result?: Text
  readonly transcript?: string
  readonly usage?: WorkUsage
  readonly plainText?: boolean
}

/** The workspaces. */
export interface WorkspaceList {
  readonly workspaces: readonly WorkspaceRow[]
}

/**
 * A folder was opened for the first time, or a person approved a broad folder (`wide`).
 *
 * `path` is absolute, with symbolic links resolved.
 */
export interface WorkspaceOpened {
  readonly path: string
  readonly name: string
  readonly wide?: boolean
}

/**
 * A workspace.
 *
 * `trusted` is the digest of the granted permissions of its folder's files, empty for none;
 * `get_trust` reports whether the files request others now. `sequence` is the newest fact of
 * trust, rules or settings. `rebuilding` is the number of sessions that are missing in the list
 * while their rows are rebuilt.
 */
export interface WorkspaceRow {
  readonly kind: 'workspace'
  readonly key: string
  readonly order: number
  readonly sequence: number
  readonly workspaceId: string
  readonly path: string
  readonly name: string
  readonly trusted?: string
  readonly rebuilding?: number
}

/** The trust was revoked: the folder's files grant no more permissions. */
export interface WorkspaceTrustRevoked {
  readonly reason?: string
}

/**
 * A person granted the permissions that the folder's files request.
 *
 * `digest` is the SHA-256 in hex of exactly what was shown; the trust ends when the files request
 * something else. `allowed` is the same as text.
 */
export interface WorkspaceTrusted {
  readonly digest: string
  readonly allowed?: readonly string[]
  readonly reason?: string
}

/**
 * Write to the standard input of a background process.
 *
 * `end` closes the input.
 */
export interface WriteProcessStdin {
  readonly sessionId: string
  readonly processId: string
  readonly text?: string
  readonly end?: boolean
}

export interface FactPayloads {
  readonly 'action.expired': ActionExpired
  readonly 'action.required': ActionRequired
  readonly 'action.resolved': ActionResolved
  readonly 'action.withdrawn': ActionWithdrawn
  readonly 'agent.connected': AgentConnected
  readonly 'agent.defined': AgentDefined
  readonly 'agent.disconnected': AgentDisconnected
  readonly 'agent.edge.added': EdgeAdded
  readonly 'agent.mode.changed': AgentModeChanged
  readonly 'agent.slept': AgentSlept
  readonly 'agent.woke': AgentWoke
  readonly 'artifact.created': ArtifactCreated
  readonly 'artifact.deleted': ArtifactDeleted
  readonly 'artifact.export.completed': ArtifactExportCompleted
  readonly 'artifact.export.progressed': ArtifactExportProgressed
  readonly 'artifact.export.started': ArtifactExportStarted
  readonly 'artifact.failed': ArtifactFailed
  readonly 'artifact.save.requested': ArtifactSaveRequested
  readonly 'artifact.updated': ArtifactUpdated
  readonly 'artifact.version.created': ArtifactVersionCreated
  readonly 'channel.closed': ChannelClosed
  readonly 'channel.message': ChannelMessage
  readonly 'channel.opened': ChannelOpened
  readonly 'context.compaction.completed': CompactionCompleted
  readonly 'context.compaction.failed': CompactionFailed
  readonly 'context.compaction.started': CompactionStarted
  readonly 'context.pinned': ContextPinned
  readonly 'context.resolved': ContextResolved
  readonly 'cost.recorded': CostRecorded
  readonly 'error.raised': ErrorRaised
  readonly 'evidence.exported': EvidenceExported
  readonly 'handoff.accepted': HandoffAccepted
  readonly 'handoff.completed': HandoffCompleted
  readonly 'handoff.rejected': HandoffRejected
  readonly 'handoff.reply.ended': ReplyEnded
  readonly 'handoff.requested': HandoffRequested
  readonly 'inbox.consumed': InboxConsumed
  readonly 'inbox.reserved': InboxReserved
  readonly 'job.created': JobCreated
  readonly 'job.item.retried': JobItemRetried
  readonly 'message.interrupted': MessageInterrupted
  readonly 'message.text': MessageText
  readonly 'model.completed': ModelCompleted
  readonly 'model.failed': ModelFailed
  readonly 'model.interrupted': ModelInterrupted
  readonly 'model.quota': QuotaReported
  readonly 'model.requested': ModelRequested
  readonly 'output.final': OutputFinal
  readonly 'permission.evaluated': PermissionEvaluated
  readonly 'permission.rule.added': PermissionRuleAdded
  readonly 'permission.rule.revoked': PermissionRuleRevoked
  readonly 'plan.updated': PlanUpdated
  readonly 'process.ended': ProcessEnded
  readonly 'process.input': ProcessInputGiven
  readonly 'process.started': ProcessStarted
  readonly 'process.stop.requested': ProcessStopRequested
  readonly 'queue.added': QueueAdded
  readonly 'queue.edited': QueueEdited
  readonly 'queue.promoted': QueuePromoted
  readonly 'queue.removed': QueueRemoved
  readonly 'queue.steer.accepted': SteerAccepted
  readonly 'queue.steer.rejected': SteerRejected
  readonly 'queue.steer.requested': SteerRequested
  readonly 'reasoning.completed': ReasoningCompleted
  readonly 'reasoning.interrupted': ReasoningInterrupted
  readonly 'remote.artifact': RemoteArtifact
  readonly 'remote.task': RemoteTaskChanged
  readonly 'review.applied': ReviewApplied
  readonly 'review.requested': ReviewRequested
  readonly 'review.verdict': ReviewVerdict
  readonly 'routing.resolved': RoutingResolved
  readonly 'sandbox.applied': SandboxApplied
  readonly 'session.created': SessionCreated
  readonly 'session.taken_over': SessionTakenOver
  readonly 'snapshot.updated': SnapshotUpdated
  readonly 'subagent.awaited': SubagentsAwaited
  readonly 'subagent.cancelled': SubagentCancelled
  readonly 'subagent.closed': SubagentClosed
  readonly 'subagent.completed': SubagentCompleted
  readonly 'subagent.continued': SubagentContinued
  readonly 'subagent.failed': SubagentFailed
  readonly 'subagent.isolated': SubagentIsolated
  readonly 'subagent.merge.requested': SubagentMergeRequested
  readonly 'subagent.merged': SubagentMerged
  readonly 'subagent.queued': SubagentQueued
  readonly 'subagent.spawned': SubagentSpawned
  readonly 'subagent.started': SubagentStarted
  readonly 'task.cancel.requested': TaskCancelRequested
  readonly 'task.cancelled': TaskCancelled
  readonly 'task.completed': TaskCompleted
  readonly 'task.created': TaskCreated
  readonly 'task.failed': TaskFailed
  readonly 'task.paused': TaskPaused
  readonly 'task.resumed': TaskResumed
  readonly 'task.started': TaskStarted
  readonly 'task.updated': TaskUpdated
  readonly 'team.changed': TeamChanged
  readonly 'thread.opened': ThreadOpened
  readonly 'thread.paused': ThreadPaused
  readonly 'thread.resumed': ThreadResumed
  readonly 'tool.cancelled': ToolCancelled
  readonly 'tool.catalog.resolved': ToolCatalogResolved
  readonly 'tool.completed': ToolCompleted
  readonly 'tool.failed': ToolFailed
  readonly 'tool.lost': ToolLost
  readonly 'tool.refused': ToolRefused
  readonly 'tool.requested': ToolRequested
  readonly 'tool.server.connected': ToolServerConnected
  readonly 'tool.server.lost': ToolServerLost
  readonly 'tool.started': ToolStarted
  readonly 'turn.completed': TurnCompleted
  readonly 'turn.failed': TurnFailed
  readonly 'turn.interrupt.requested': TurnInterruptRequested
  readonly 'turn.interrupted': TurnInterrupted
  readonly 'turn.started': TurnStarted
  readonly 'turn.submitted': TurnSubmitted
  readonly 'warning.raised': WarningRaised
  readonly 'worker.notification': WorkerNotification
  readonly 'workspace.opened': WorkspaceOpened
  readonly 'workspace.session.archived': SessionArchived
  readonly 'workspace.session.deleted': SessionDeleted
  readonly 'workspace.session.listed': SessionListed
  readonly 'workspace.session.pinned': SessionPinned
  readonly 'workspace.session.scheduled': SessionScheduled
  readonly 'workspace.session.titled': SessionTitled
  readonly 'workspace.session.trimmed': SessionTrimmed
  readonly 'workspace.settings.changed': SettingsChanged
  readonly 'workspace.trust.revoked': WorkspaceTrustRevoked
  readonly 'workspace.trusted': WorkspaceTrusted
}

export type FactType = keyof FactPayloads

/** An event of a type that these contracts know. */
export type WireEvent = {
  [T in FactType]: Envelope & { readonly type: T; readonly payload: FactPayloads[T]; readonly erased?: false }
}[FactType]

/** An event whose payload was erased: its envelope remains. */
export type ErasedEvent = Envelope & { readonly type: string; readonly erased: true }

export interface Commands {
  readonly open_workspace: { readonly command: OpenWorkspace; readonly answer: OpenedWorkspace }
  readonly update_session: { readonly command: UpdateSession; readonly answer: SessionUpdated }
  readonly delete_session: { readonly command: DeleteSession; readonly answer: DeletedSession }
  readonly list_workspaces: { readonly command: ListWorkspaces; readonly answer: WorkspaceList }
  readonly list_sessions: { readonly command: ListSessions; readonly answer: SessionList }
  readonly get_session: { readonly command: GetSession; readonly answer: SessionRead }
  readonly get_thread_read: { readonly command: GetThreadRead; readonly answer: ThreadRead }
  readonly get_parts: { readonly command: GetParts; readonly answer: PartList }
  readonly get_turns: { readonly command: GetTurns; readonly answer: TurnList }
  readonly start_demo: { readonly command: StartDemo; readonly answer: TurnAccepted }
  readonly list_sizes: { readonly command: ListSizes; readonly answer: SizeList }
  readonly submit_turn: { readonly command: SubmitTurn; readonly answer: TurnAccepted }
  readonly steer_turn: { readonly command: SteerTurn; readonly answer: SteerQueued }
  readonly interrupt_turn: { readonly command: InterruptTurn; readonly answer: ThreadChanged }
  readonly resume_thread: { readonly command: ResumeThread; readonly answer: ThreadChanged }
  readonly remove_queued_turn: { readonly command: RemoveQueuedTurn; readonly answer: QueueChanged }
  readonly promote_queued_turn: { readonly command: PromoteQueuedTurn; readonly answer: QueueChanged }
  readonly edit_queued_turn: { readonly command: EditQueuedTurn; readonly answer: QueueChanged }
  readonly respond_action: { readonly command: RespondAction; readonly answer: ActionAnswered }
  readonly add_agent: { readonly command: AddAgent; readonly answer: AgentAdded }
  readonly list_agents: { readonly command: ListAgents; readonly answer: AgentList }
  readonly spawn_subagent: { readonly command: SpawnSubagent; readonly answer: ChildSpawned }
  readonly send_subagent_input: { readonly command: SendSubagentInput; readonly answer: ChildInputAccepted }
  readonly wait_subagents: { readonly command: WaitSubagents; readonly answer: ChildResults }
  readonly close_subagent: { readonly command: CloseSubagent; readonly answer: ChildChanged }
  readonly cancel_subagent: { readonly command: CancelSubagent; readonly answer: ChildChanged }
  readonly list_subagents: { readonly command: ListSubagents; readonly answer: SubagentGraph }
  readonly send_handoff: { readonly command: SendHandoff; readonly answer: HandoffSent }
  readonly respond_handoff: { readonly command: RespondHandoff; readonly answer: HandoffAnswered }
  readonly send_message: { readonly command: SendMessage; readonly answer: MessageSent }
  readonly create_task: { readonly command: CreateTask; readonly answer: TaskChanged }
  readonly update_task: { readonly command: UpdateTask; readonly answer: TaskChanged }
  readonly start_task: { readonly command: StartTask; readonly answer: TaskChanged }
  readonly pause_task: { readonly command: PauseTask; readonly answer: TaskChanged }
  readonly resume_task: { readonly command: ResumeTask; readonly answer: TaskChanged }
  readonly cancel_task: { readonly command: CancelTask; readonly answer: TaskChanged }
  readonly retry_task: { readonly command: RetryTask; readonly answer: TaskChanged }
  readonly append_task_progress: { readonly command: AppendTaskProgress; readonly answer: TaskChanged }
  readonly complete_task: { readonly command: CompleteTask; readonly answer: TaskChanged }
  readonly fail_task: { readonly command: FailTask; readonly answer: TaskChanged }
  readonly link_tasks: { readonly command: LinkTasks; readonly answer: TaskChanged }
  readonly unlink_tasks: { readonly command: UnlinkTasks; readonly answer: TaskChanged }
  readonly list_tasks: { readonly command: ListTasks; readonly answer: TaskList }
  readonly get_task: { readonly command: GetTask; readonly answer: TaskRead }
  readonly merge_subagent: { readonly command: MergeSubagent; readonly answer: ChildMerged }
  readonly request_review: { readonly command: RequestReview; readonly answer: ReviewOpened }
  readonly submit_verdict: { readonly command: SubmitVerdict; readonly answer: ReviewChanged }
  readonly apply_review: { readonly command: ApplyReview; readonly answer: ReviewChanged }
  readonly create_job: { readonly command: CreateJob; readonly answer: JobChanged }
  readonly cancel_job: { readonly command: CancelJob; readonly answer: JobChanged }
  readonly pause_job: { readonly command: PauseJob; readonly answer: JobChanged }
  readonly resume_job: { readonly command: ResumeJob; readonly answer: JobChanged }
  readonly retry_job_item: { readonly command: RetryJobItem; readonly answer: JobChanged }
  readonly get_job: { readonly command: GetJob; readonly answer: JobRead }
  readonly list_artifacts: { readonly command: ListArtifacts; readonly answer: ArtifactList }
  readonly get_artifact: { readonly command: GetArtifact; readonly answer: ArtifactRead }
  readonly get_artifact_diff: { readonly command: GetArtifactDiff; readonly answer: ArtifactDiff }
  readonly create_artifact: { readonly command: CreateArtifact; readonly answer: ArtifactChanged }
  readonly edit_artifact: { readonly command: EditArtifact; readonly answer: ArtifactChanged }
  readonly rollback_artifact: { readonly command: RollbackArtifact; readonly answer: ArtifactChanged }
  readonly retry_artifact: { readonly command: RetryArtifact; readonly answer: ArtifactRetried }
  readonly delete_artifact: { readonly command: DeleteArtifact; readonly answer: ArtifactChanged }
  readonly export_artifact: { readonly command: ExportArtifact; readonly answer: ExportStarted }
  readonly get_context: { readonly command: GetContext; readonly answer: ContextRead }
  readonly set_context: { readonly command: SetContext; readonly answer: ContextChanged }
  readonly compact_thread: { readonly command: CompactThread; readonly answer: CompactionAccepted }
  readonly find_mentions: { readonly command: FindMentions; readonly answer: MentionList }
  readonly get_trust: { readonly command: GetTrust; readonly answer: TrustRead }
  readonly trust_workspace: { readonly command: TrustWorkspace; readonly answer: TrustChanged }
  readonly revoke_trust: { readonly command: RevokeTrust; readonly answer: TrustChanged }
  readonly list_rules: { readonly command: ListRules; readonly answer: RuleList }
  readonly add_rule: { readonly command: AddRule; readonly answer: RuleChanged }
  readonly revoke_rule: { readonly command: RevokeRule; readonly answer: RuleChanged }
  readonly dry_run_rules: { readonly command: DryRunRules; readonly answer: DryRunResult }
  readonly evaluate_permission: { readonly command: EvaluatePermission; readonly answer: PermissionEvaluation }
  readonly resolve_permission: { readonly command: ResolvePermission; readonly answer: ActionAnswered }
  readonly get_settings: { readonly command: GetSettings; readonly answer: SettingsRead }
  readonly update_settings: { readonly command: UpdateSettings; readonly answer: SettingsUpdated }
  readonly set_secret: { readonly command: SetSecret; readonly answer: SecretStored }
  readonly remove_secret: { readonly command: RemoveSecret; readonly answer: SecretRemoved }
  readonly list_secrets: { readonly command: ListSecrets; readonly answer: SecretList }
  readonly list_models: { readonly command: ListModels; readonly answer: ModelList }
  readonly test_model: { readonly command: TryModel; readonly answer: ModelTestResult }
  readonly preview_route: { readonly command: PreviewRoute; readonly answer: RoutePreview }
  readonly get_tool_inventory: { readonly command: GetToolInventory; readonly answer: ToolInventory }
  readonly list_servers: { readonly command: ListServers; readonly answer: ServerList }
  readonly reconnect_server: { readonly command: ReconnectServer; readonly answer: ServerChanged }
  readonly get_execution_environment: { readonly command: GetExecutionEnvironment; readonly answer: ExecutionEnvironment }
  readonly list_processes: { readonly command: ListProcesses; readonly answer: ProcessList }
  readonly write_process_stdin: { readonly command: WriteProcessStdin; readonly answer: ProcessChanged }
  readonly terminate_process: { readonly command: TerminateProcess; readonly answer: ProcessChanged }
  readonly export_evidence: { readonly command: ExportEvidence; readonly answer: EvidencePacked }
  readonly list_exports: { readonly command: ListExports; readonly answer: ExportList }
  readonly import_turn: { readonly command: ImportTurn; readonly answer: TurnImported }
  readonly list_past_sessions: { readonly command: ListPastSessions; readonly answer: PastSessionList }
  readonly import_past_session: { readonly command: ImportPastSession; readonly answer: PastSessionImported }
}

export type CommandName = keyof Commands

export const COMMANDS = {
  open_workspace: { serial: 'store', authority: 'person', query: false, summary: 'Open a folder as a workspace.' },
  update_session: { serial: 'workspace', authority: 'person', query: false, summary: 'Rename, pin or archive a session.' },
  delete_session: { serial: 'workspace', authority: 'person', query: false, summary: 'Delete a session with all its content; the workspace keeps the end of its chain.' },
  list_workspaces: { serial: 'store', authority: 'anyone', query: true, summary: 'List the opened workspaces.' },
  list_sessions: { serial: 'workspace', authority: 'anyone', query: true, summary: 'List the sessions of a workspace, or of all workspaces, newest first.' },
  get_session: { serial: 'session', authority: 'anyone', query: true, summary: 'Read the header of a session, its newest turns, its threads, and the cursor to follow it from.' },
  get_thread_read: { serial: 'session', authority: 'anyone', query: true, summary: 'Read a thread\'s status, pending actions, last outcome, incidents and queue.' },
  get_parts: { serial: 'session', authority: 'anyone', query: true, summary: 'Read the parts of one turn.' },
  get_turns: { serial: 'session', authority: 'anyone', query: true, summary: 'Read older turns of a session or of one thread.' },
  start_demo: { serial: 'store', authority: 'person', query: false, summary: 'Play a demo: a real run in a new folder, with a script in place of the model.' },
  list_sizes: { serial: 'store', authority: 'anyone', query: true, summary: 'List the disk space that each session uses.' },
  submit_turn: { serial: 'session', authority: 'anyone', query: false, summary: 'Accept input, and start or queue a turn.' },
  steer_turn: { serial: 'session', authority: 'person', query: false, summary: 'Add input to a running turn, for its next model call.' },
  interrupt_turn: { serial: 'session', authority: 'person', query: false, summary: 'Stop the running turn of a thread.' },
  resume_thread: { serial: 'session', authority: 'person', query: false, summary: 'Resume a paused thread and its queue.' },
  remove_queued_turn: { serial: 'session', authority: 'person', query: false, summary: 'Remove a turn from the queue.' },
  promote_queued_turn: { serial: 'session', authority: 'person', query: false, summary: 'Move a queued turn to the front.' },
  edit_queued_turn: { serial: 'session', authority: 'person', query: false, summary: 'Replace the input of a queued turn.' },
  respond_action: { serial: 'session', authority: 'person', query: false, summary: 'Resolve a pending action.' },
  add_agent: { serial: 'session', authority: 'person', query: false, summary: 'Add an agent of the folder to the session.' },
  list_agents: { serial: 'session', authority: 'anyone', query: true, summary: 'List the agents that the folder or the session defines, and which of them take part.' },
  spawn_subagent: { serial: 'session', authority: 'person', query: false, summary: 'Create a child agent with parent links and isolation.' },
  send_subagent_input: { serial: 'session', authority: 'person', query: false, summary: 'Send text to a child.' },
  wait_subagents: { serial: 'session', authority: 'anyone', query: true, summary: 'Wait for children.' },
  close_subagent: { serial: 'session', authority: 'person', query: false, summary: 'Stop a child permanently and release its resources.' },
  cancel_subagent: { serial: 'session', authority: 'person', query: false, summary: 'Cancel the work of a child.' },
  list_subagents: { serial: 'session', authority: 'anyone', query: true, summary: 'List the agents of a session: parents, children and the state of each child.' },
  send_handoff: { serial: 'session', authority: 'person', query: false, summary: 'Send a handoff over an edge to the inbox of an agent.' },
  respond_handoff: { serial: 'session', authority: 'person', query: false, summary: 'Accept, reject or return a handoff on behalf of its receiver.' },
  send_message: { serial: 'session', authority: 'person', query: false, summary: 'Send a message to agents of the session, which receive it in their next turn.' },
  create_task: { serial: 'session', authority: 'person', query: false, summary: 'Create a task on the session\'s board.' },
  update_task: { serial: 'session', authority: 'person', query: false, summary: 'Change, comment on or end a task of the session\'s board.' },
  start_task: { serial: 'session', authority: 'person', query: false, summary: 'Start the first attempt of a task.' },
  pause_task: { serial: 'session', authority: 'person', query: false, summary: 'Stop the work on a task and its subtasks until it is resumed.' },
  resume_task: { serial: 'session', authority: 'person', query: false, summary: 'Resume a paused task and its subtasks.' },
  cancel_task: { serial: 'session', authority: 'person', query: false, summary: 'Cancel a task, its subtasks and the agents that work on them.' },
  retry_task: { serial: 'session', authority: 'person', query: false, summary: 'Start another attempt of a task whose newest attempt failed or was cancelled.' },
  append_task_progress: { serial: 'session', authority: 'person', query: false, summary: 'Report progress of a task: a phase, counters, a summary, refs to outputs.' },
  complete_task: { serial: 'session', authority: 'person', query: false, summary: 'Record that a task is done, with its deliverables.' },
  fail_task: { serial: 'session', authority: 'person', query: false, summary: 'Record that the newest attempt of a task failed.' },
  link_tasks: { serial: 'session', authority: 'person', query: false, summary: 'Make a task a subtask of another task, let it depend on other tasks, or add references.' },
  unlink_tasks: { serial: 'session', authority: 'person', query: false, summary: 'Remove links of a task.' },
  list_tasks: { serial: 'session', authority: 'anyone', query: true, summary: 'List the tasks of a session with their attempts, newest first.' },
  get_task: { serial: 'session', authority: 'anyone', query: true, summary: 'Read a task with its attempts, and the snapshot that restores the view of its agents.' },
  merge_subagent: { serial: 'session', authority: 'person', query: false, summary: 'Merge a child\'s worktree into its parent\'s folder, completely or not at all.' },
  request_review: { serial: 'session', authority: 'person', query: false, summary: 'Ask an agent for a verdict on work.' },
  submit_verdict: { serial: 'session', authority: 'person', query: false, summary: 'Record a verdict on a review, or on a child whose work waits for one.' },
  apply_review: { serial: 'session', authority: 'person', query: false, summary: 'Send the requested changes of a review to their assignees.' },
  create_job: { serial: 'session', authority: 'person', query: false, summary: 'Start durable work in batches, with a child agent on each item.' },
  cancel_job: { serial: 'session', authority: 'person', query: false, summary: 'Cancel a job.' },
  pause_job: { serial: 'session', authority: 'person', query: false, summary: 'Pause a job until it is resumed.' },
  resume_job: { serial: 'session', authority: 'person', query: false, summary: 'Resume a paused job.' },
  retry_job_item: { serial: 'session', authority: 'person', query: false, summary: 'Start another attempt of one failed item, or of all failed items.' },
  get_job: { serial: 'session', authority: 'anyone', query: true, summary: 'Read a job and the state of each item.' },
  list_artifacts: { serial: 'session', authority: 'anyone', query: true, summary: 'List the artifacts of a session with their state, and the exports in progress.' },
  get_artifact: { serial: 'session', authority: 'anyone', query: true, summary: 'Read an artifact with its versions and the step that created each.' },
  get_artifact_diff: { serial: 'session', authority: 'anyone', query: true, summary: 'Read the differences between two versions of an artifact.' },
  create_artifact: { serial: 'session', authority: 'person', query: false, summary: 'Create an artifact, either a file of the folder or stored by Callboard alone.' },
  edit_artifact: { serial: 'session', authority: 'person', query: false, summary: 'Save text as the next version of an artifact.' },
  rollback_artifact: { serial: 'session', authority: 'person', query: false, summary: 'Restore an earlier version of an artifact as a new version.' },
  retry_artifact: { serial: 'session', authority: 'person', query: false, summary: 'Retry a failed save or a failed export.' },
  delete_artifact: { serial: 'session', authority: 'person', query: false, summary: 'Delete an artifact; its versions stay in the log.' },
  export_artifact: { serial: 'session', authority: 'person', query: false, summary: 'Export artifacts in the background as a file, a diff, a page or an archive.' },
  get_context: { serial: 'session', authority: 'anyone', query: true, summary: 'Read the context of a thread\'s newest run: what it received, what is missing and what was omitted, with reasons.' },
  set_context: { serial: 'session', authority: 'person', query: false, summary: 'Pin files and folders that every turn of a thread receives, starting with the next one.' },
  compact_thread: { serial: 'session', authority: 'person', query: false, summary: 'Summarise the older part of a thread.' },
  find_mentions: { serial: 'workspace', authority: 'anyone', query: true, summary: 'List what text after an @ can refer to, best match first.' },
  get_trust: { serial: 'workspace', authority: 'anyone', query: true, summary: 'Read what a folder\'s own files would allow, and whether the folder is trusted.' },
  trust_workspace: { serial: 'workspace', authority: 'person', query: false, summary: 'Trust a folder: its own files may allow exactly what was shown under this digest.' },
  revoke_trust: { serial: 'workspace', authority: 'person', query: false, summary: 'Revoke the trust in a folder; its own files allow nothing from then on.' },
  list_rules: { serial: 'workspace', authority: 'anyone', query: true, summary: 'List the rules of a workspace or a session, and the place of each.' },
  add_rule: { serial: 'workspace', authority: 'person', query: false, summary: 'Add a rule to a session or, without a session, to the workspace.' },
  revoke_rule: { serial: 'workspace', authority: 'person', query: false, summary: 'Revoke a rule.' },
  dry_run_rules: { serial: 'workspace', authority: 'anyone', query: false, summary: 'Evaluate rules against the past calls of a workspace or of one session; nothing changes.' },
  evaluate_permission: { serial: 'session', authority: 'anyone', query: false, summary: 'Preview the gate\'s verdict on a call, which is not made.' },
  resolve_permission: { serial: 'session', authority: 'person', query: false, summary: 'Resolve a pending action on behalf of a host policy or an approval system.' },
  get_settings: { serial: 'store', authority: 'person', query: true, summary: 'Read a settings file and the effective settings, with secrets masked.' },
  update_settings: { serial: 'store', authority: 'person', query: false, summary: 'Write named keys to a settings file.' },
  set_secret: { serial: 'store', authority: 'person', query: false, summary: 'Store a secret in the system\'s keyring.' },
  remove_secret: { serial: 'store', authority: 'person', query: false, summary: 'Remove a secret from the system\'s keyring.' },
  list_secrets: { serial: 'store', authority: 'person', query: true, summary: 'List the secrets by name and place, without their values.' },
  list_models: { serial: 'store', authority: 'person', query: true, summary: 'List the configured models, and the keys, model servers and agents found on this machine.' },
  test_model: { serial: 'store', authority: 'person', query: true, summary: 'Send a short question to a model and report the response or the error.' },
  preview_route: { serial: 'store', authority: 'person', query: true, summary: 'Preview which model receives the next input of a thread, and whether it accepts images.' },
  get_tool_inventory: { serial: 'session', authority: 'anyone', query: true, summary: 'List the tools of an agent as loaded, deferred, blocked or excluded, each with its reason and behaviour.' },
  list_servers: { serial: 'workspace', authority: 'anyone', query: true, summary: 'List the tool servers of a workspace, with their errors.' },
  reconnect_server: { serial: 'workspace', authority: 'person', query: false, summary: 'Disconnect from a tool server and connect again.' },
  get_execution_environment: { serial: 'workspace', authority: 'anyone', query: true, summary: 'Read where commands of a thread run, what confines them, and their limits.' },
  list_processes: { serial: 'session', authority: 'anyone', query: true, summary: 'List the background processes of a session or of one thread, including finished ones.' },
  write_process_stdin: { serial: 'session', authority: 'person', query: false, summary: 'Write to the standard input of a background process.' },
  terminate_process: { serial: 'session', authority: 'person', query: false, summary: 'Terminate a background process and all its descendants.' },
  export_evidence: { serial: 'session', authority: 'person', query: false, summary: 'Export a pack of a session\'s facts that others can verify without this product.' },
  list_exports: { serial: 'session', authority: 'anyone', query: true, summary: 'List the evidence exports in progress, with their progress.' },
  import_turn: { serial: 'session', authority: 'person', query: false, summary: 'Import a past turn of another product into a read-only session.' },
  list_past_sessions: { serial: 'workspace', authority: 'person', query: true, summary: 'List the past sessions of Claude Code and Codex in a workspace\'s folder.' },
  import_past_session: { serial: 'workspace', authority: 'person', query: false, summary: 'Import a past session of Claude Code or Codex, to read it here.' },
} as const

/** The rows of each panel. */
export interface PanelRows {
  readonly session: SessionRow
  readonly status: StatusRow
  readonly turns: TurnRow
  readonly parts: TextPart | ReasoningPart | ToolPart | ActionPart | SteerPart | NoticePart | PlanPart | NotificationPart | HandoffPart | RemoteStatusPart | ContextPart | ArtifactPart | ErrorPart
  readonly queue: QueueRow
  readonly actions: ActionRow
  readonly artifacts: ArtifactRow
  readonly context: ContextRow
  readonly processes: ProcessRow
  readonly team: TeamRow
  readonly agents: AgentRow
  readonly tasks: TaskRow
  readonly edges: EdgeRow
  readonly notifications: NotificationRow
  readonly handoffs: HandoffRow
  readonly reviews: ReviewRow
  readonly messages: MessageRow
  readonly runs: RunRow
  readonly workspaces: WorkspaceRow
  readonly sessions: SessionCard
}

export type Panel = keyof PanelRows

export const SESSION_PANELS = [
  'session',
  'status',
  'turns',
  'parts',
  'queue',
  'actions',
  'artifacts',
  'context',
  'processes',
  'team',
  'agents',
  'tasks',
  'edges',
  'notifications',
  'handoffs',
  'reviews',
  'messages',
  'runs',
] as const
export type SessionPanel = (typeof SESSION_PANELS)[number]

export const WORKSPACE_PANELS = [
  'workspaces',
  'sessions',
] as const
export type WorkspacePanel = (typeof WORKSPACE_PANELS)[number]

export type Op = Upsert | Remove | AppendText

/** Operations with the cursor that is reached once they are applied; a snapshot replaces what was there. */
export interface OpBatch {
  readonly kind: 'ops' | 'snapshot'
  readonly cursor: Cursor
  readonly ops: readonly Op[]
}
