//! The planted faults: what each does, in which phase it acts, where it shows first, and what turns the run red.

use super::{Impurity, Means, Row};
use crate::check::Check;
use crate::section::Phase;

use Impurity::{
    Address, Arrival, Build, Clock, Entropy, Environment, HashOrder, Leftover, Listening, Locale, Race,
};
use Means::{Clean, Fold, Invariant, Nondeterminism, Snapshot};

macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $text:literal: $phase:ident $field:literal $means:expr, $scenario:literal;)+) => {
        crate::names! {
            /// A fault that a test plants in a room.
            pub enum Fault { $($(#[$doc])* $name = $text),+ }
        }

        /// Every fault with its place and its catcher.
        pub const TABLE: [Row; Fault::COUNT] = [$(Row {
            fault: Fault::$name,
            phase: Phase::$phase,
            field: $field,
            means: $means,
            scenario: $scenario,
        }),+];
    };
}

faults! {
    // ---- what is not the same twice

    /// Candidates are drawn from in the order of a hash map.
    MapOrder = "map_order": P12 "queue.items" Nondeterminism(HashOrder), "V08";
    /// The body dries out faster in odd nanoseconds.
    ClockInDecay = "clock_in_decay": P8 "levels.hydration" Nondeterminism(Clock), "V01";
    /// Acts of one tick are reduced in the order in which two threads bring them.
    ActsRaced = "acts_raced": P7 "world" Nondeterminism(Race), "V05";
    /// The number of an item is made from an address of the heap.
    AddressAsNumber = "address_as_number": P12 "queue" Nondeterminism(Address), "V01";
    /// An address goes into the fold of the state.
    AddressInFold = "address_in_fold": P15 "fold" Nondeterminism(Address), "V01";
    /// The threshold of a band comes from an environment variable.
    EnvironmentThreshold = "environment_threshold": P8 "regulation.band" Nondeterminism(Environment), "V01";
    /// Candidates are sorted by the rules of a locale instead of their bytes.
    LocaleOrder = "locale_order": P12 "queue.items" Nondeterminism(Locale), "V08";
    /// Somebody who listens shifts the draws of the room.
    ListeningDraws = "listening_draws": P12 "queue.items" Nondeterminism(Listening), "V01";
    /// Transactions are counted by a counter of the whole process.
    LeftoverCounter = "leftover_counter": P12 "mind.transactions" Nondeterminism(Leftover), "V01";
    /// A debug build asks for a decision that a release build does not ask for.
    DebugBranch = "debug_branch": P13 "mind.triggers" Nondeterminism(Build), "V01";
    /// A draw comes from the system instead of its coordinates.
    SystemDraw = "system_draw": P12 "queue" Nondeterminism(Entropy), "V08";
    /// Inputs of one tick are taken in the order of their arrival.
    ArrivalOrder = "arrival_order": P2 "facts.list" Nondeterminism(Arrival), "V05";
    /// All streams share one row of draws: who explores shifts who chooses.
    SharedStream = "shared_stream": P12 "queue.items" Clean, "V08";

    // ---- what a snapshot does not hold

    /// Paths are not made anew for the blockers of the loaded world.
    LostPaths = "lost_paths": P6 "body.cell" Snapshot, "V05";
    /// The learner begins again.
    LostLearner = "lost_learner": P1 "expectations.list" Snapshot, "V09";
    /// Repetition counters are not saved.
    LostHabits = "lost_habits": P1 "habits.counters" Snapshot, "V08";
    /// The retry ledger is not saved.
    LostRetries = "lost_retries": P1 "retries" Snapshot, "V10";
    /// FAILURE_RECOVERY is not saved.
    LostRecovery = "lost_recovery": P1 "recovery" Snapshot, "V19";
    /// Pending effects are not saved.
    LostPending = "lost_pending": P1 "pending.list" Snapshot, "V02";
    /// Triggers that wait for their transaction are not saved.
    LostTriggers = "lost_triggers": P1 "mind.triggers" Snapshot, "V01";
    /// What a repetition merges with is not saved.
    LostRecent = "lost_recent": P1 "seen.recent" Snapshot, "V05";
    /// Acts that wait for the end of a commit are not saved.
    LostDeferred = "lost_deferred": P1 "seen.deferred" Snapshot, "V05";
    /// The run of clear ticks is not saved.
    LostClearRun = "lost_clear_run": P1 "safety.clear_from" Snapshot, "V03";
    /// Bands are read from the level alone: their hysteresis is lost.
    LostBands = "lost_bands": P1 "regulation.band" Snapshot, "V01";
    /// Visits are not saved.
    LostVisits = "lost_visits": P1 "visits.cells" Snapshot, "V01";
    /// The progress of an item is not saved.
    LostProgress = "lost_progress": P1 "queue.items" Snapshot, "V19";
    /// Overrides and what they left are not saved.
    LostEpisodes = "lost_episodes": P1 "episodes" Snapshot, "V22a";

    // ---- what was computed and is not true any more

    /// The fold of the reserves is kept when they are written.
    StaleFoldLevels = "stale_fold_levels": P15 "fold.levels" Fold, "V01";
    /// The fold of the queue is kept when it is written.
    StaleFoldQueue = "stale_fold_queue": P15 "fold.queue" Fold, "V01";
    /// The digest of the reserves is kept when they are written.
    StaleDigest = "stale_digest": P15 "digest.levels" Fold, "V01";

    // ---- what an invariant catches

    /// What is picked up stays on the list of where it was.
    OldListKept = "old_list_kept": P7 "world.inside" Invariant(Check::Inv01), "V05";
    /// What is put down stays in the hand.
    HandNotCleared = "hand_not_cleared": P7 "body.hand" Invariant(Check::Inv02), "V05";
    /// The mode of control changes and the owner does not.
    OwnerNotSwitched = "owner_not_switched": P5 "control.owner" Invariant(Check::Inv03), "V03";
    /// Safety does not take the body.
    NoPreemption = "no_preemption": P5 "control.mode" Invariant(Check::Inv03), "V03";
    /// The next item starts while one holds the body.
    TwoActive = "two_active": P6 "queue.items" Invariant(Check::Inv04), "V05";
    /// Every Outcome is reduced twice.
    OutcomeTwice = "outcome_twice": P7 "mind.inspected" Invariant(Check::Inv05), "V05";
    /// Drinking and eating leave the stock as it was.
    DrinksFromNothing = "drinks_from_nothing": P7 "world.objects" Invariant(Check::Inv05), "V02";
    /// A fact names an event that told something else.
    FactWithoutSource = "fact_without_source": P9 "facts.list" Invariant(Check::Inv06), "V05";
    /// A decision writes a reserve.
    DecisionWritesLevels = "decision_writes_levels": P12 "levels.hydration" Invariant(Check::Inv07), "V01";
    /// The soft reservation is not obtained.
    NotReserved = "not_reserved": P6 "queue.items" Invariant(Check::Inv08), "V05";
    /// A foreign act takes a reservation away and says nothing of it.
    LossNotNoted = "loss_not_noted": P7 "queue.items" Invariant(Check::Inv08), "V05";
    /// Sleep goes on in a bed that is broken.
    BedNotVerified = "bed_not_verified": P6 "queue.items" Invariant(Check::Inv08), "V01b";
    /// Decisions go on in danger, and submit again what causes it.
    RiskResubmitted = "risk_resubmitted": P12 "queue.items" Invariant(Check::Inv09), "V03";
    /// Commands of a lease are obeyed in danger.
    LeaseInDanger = "lease_in_danger": P2 "control.commanded" Invariant(Check::Inv09), "V03";
    /// A System Edit leaves what it touches half done.
    EditLeavesHalf = "edit_leaves_half": P7 "queue" Invariant(Check::Inv10), "V05";
    /// A System Edit does not wait for the end of a commit.
    EditDuringCommit = "edit_during_commit": P7 "levels" Invariant(Check::Inv10), "V05";

    // ---- what a gate of progress catches

    /// PENDING never becomes BLOCKED.
    PendingWithoutEnd = "pending_without_end": P13 "queue" Invariant(Check::Liv01), "V05";
    /// BLOCKED is never abandoned.
    BlockedWithoutEnd = "blocked_without_end": P13 "queue.items" Invariant(Check::Liv01), "V05";
    /// CLEANING never closes.
    CleaningWithoutEnd = "cleaning_without_end": P13 "queue" Invariant(Check::Liv02), "V05";
    /// A commit window never ends.
    CommitWithoutEnd = "commit_without_end": P6 "queue.items" Invariant(Check::Liv02), "V05";
    /// Looking never ends.
    RunWithoutEnd = "run_without_end": P6 "queue.items" Invariant(Check::Liv02), "V05";
    /// What is suspended keeps its reservation.
    SuspendedHolds = "suspended_holds": P13 "queue.items" Invariant(Check::Liv02), "V05";
    /// Failures are not charged.
    RetryNotCharged = "retry_not_charged": P7 "retries" Invariant(Check::Liv03), "V10";
    /// A new day makes all budgets new.
    TotalsResetDaily = "totals_reset_daily": P13 "retries" Invariant(Check::Liv03), "V10";
    /// What is not found is searched for without end.
    ScansUnlimited = "scans_unlimited": P12 "queue" Invariant(Check::Liv04), "V10";
    /// A lease never ends.
    LeaseWithoutEnd = "lease_without_end": P5 "control.mode" Invariant(Check::Liv05), "V20";
    /// Evacuation takes eight times as long.
    EvacuatesSlowly = "evacuates_slowly": P6 "body.cell" Invariant(Check::Liv06), "V03";
    /// Safety leaves a danger at the first clear tick.
    ExitAtOnce = "exit_at_once": P4 "safety.mode" Invariant(Check::Liv06), "V03";
    /// An answer is taken after its time.
    LateAnswer = "late_answer": P12 "queue.items" Invariant(Check::Liv08), "V04a";
    /// An answer is taken twice.
    AnswerTwice = "answer_twice": P12 "queue.items" Invariant(Check::Liv08), "V04a";
    /// FAILURE_RECOVERY is entered from within itself.
    RecoveryInRecovery = "recovery_in_recovery": P7 "recovery" Invariant(Check::Liv09), "V19";
    /// The time of observation after a recovery never ends.
    RecoveryWithoutEnd = "recovery_without_end": P13 "mind.triggers" Invariant(Check::Liv09), "V19";
    /// A phase begins although it does not fit before a deadline.
    AdmissionSkipped = "admission_skipped": P6 "queue" Invariant(Check::Liv10), "V02";
    /// The backup of a supply is never used.
    BackupUnused = "backup_unused": P12 "queue.items" Invariant(Check::Survival), "V02";

    // ---- what only a scenario can catch: the contract of every tick holds

    /// Energy is one µ lower after each tick than its rate says.
    DecayOffByOne = "decay_off_by_one": P8 "levels.energy" Clean, "V01b";
    /// Energy falls in sleep as if awake.
    DecayAsleep = "decay_asleep": P8 "levels.energy" Clean, "V01b";
    /// An effect raises a reserve beyond its domain.
    EffectNotClamped = "effect_not_clamped": P7 "levels.hydration" Clean, "V02";
    /// An open window cools by day as well.
    ColdByDay = "cold_by_day": P8 "levels.thermal" Clean, "V01b";
    /// Boredom comes once more at the full minute.
    BoredomOnTheMinute = "boredom_on_the_minute": P8 "levels.engagement" Clean, "V01b";
    /// Who gets up from bed walks on lying.
    WalksLying = "walks_lying": P6 "body.pose" Clean, "V01b";
    /// Sleep ends before its shortest time.
    SleepMinimumIgnored = "sleep_minimum_ignored": P6 "queue.items" Clean, "V01b";
    /// A cue ends sleep in the tick it comes.
    CueWakesAtOnce = "cue_wakes_at_once": P6 "queue.items" Clean, "V01b";
    /// A cue is noticed and never acted on.
    CueForgotten = "cue_forgotten": P12 "queue.items" Clean, "V01b";
    /// Who was woken for a cue sleeps on before it was seen to.
    SleepsOnAfterCue = "sleeps_on_after_cue": P12 "queue.items" Clean, "V01b";
    /// A second service of a channel is queued while one is pending.
    PendingIgnored = "pending_ignored": P12 "queue.items" Clean, "V02";
    /// After a service what waits for the same channel is not looked at again.
    NotRevalidated = "not_revalidated": P7 "queue.items" Clean, "V02";
    /// Deadlines of the body are not seen.
    DeadlineUnseen = "deadline_unseen": P8 "regulation.tier1" Clean, "V02";
    /// The last proposal of a layer starts first.
    LastProposedFirst = "last_proposed_first": P6 "queue.items" Clean, "V02";
    /// Ordinary choice goes before the deadlines of the body.
    Tier3First = "tier3_first": P12 "queue.items" Clean, "V08";
    /// A supply that is gone opens no record.
    RecordNeverOpened = "record_never_opened": P13 "regulation.record" Clean, "V01";
    /// Its record is opened up to a minute late.
    RecordLate = "record_late": P13 "regulation.record" Clean, "V01";
    /// Calls for help have no end.
    HelpWithoutEnd = "help_without_end": P13 "regulation.record" Clean, "V01";
    /// The danger begins above its threshold instead of at it.
    ThresholdExclusive = "threshold_exclusive": P4 "safety" Clean, "V03";
    /// What causes a danger is not marked, and goes on after it.
    RiskNotMarked = "risk_not_marked": P4 "queue.items" Clean, "V03";
    /// Help is called for again in the same danger.
    CallsAgain = "calls_again": P4 "safety.called" Clean, "V03";
    /// A flame harms in every tick of one episode.
    HarmedAgain = "harmed_again": P3 "levels.pain" Clean, "V03";
    /// The Agent is told of a danger that it cannot perceive.
    HiddenCauseTold = "hidden_cause_told": P9 "beliefs.hazard" Clean, "V03";
    /// What a suspended approach may still take begins anew.
    SuspensionRenews = "suspension_renews": P6 "queue.items" Clean, "V05";
    /// A repeated command within the window acts again.
    RepetitionActs = "repetition_acts": P2 "seen.recent" Clean, "V20";
    /// Of opposite commands the smaller number stays.
    OppositeFirstStays = "opposite_first_stays": P2 "seen.recent" Clean, "V05";
    /// Speech is taken before System Edits.
    SpeechFirst = "speech_first": P2 "facts.list" Clean, "V05";
    /// A lease begins without its handshake.
    LeaseWithoutHandshake = "lease_without_handshake": P2 "control.mode" Clean, "V20";
    /// Ordinary choice switches without dwell and margin.
    MarginIgnored = "margin_ignored": P12 "queue.items" Clean, "V08";
    /// Novelty follows novelty without a pause.
    PacingIgnored = "pacing_ignored": P12 "queue.items" Clean, "V08";
    /// Executions are not counted for repetition.
    RepetitionForgotten = "repetition_forgotten": P7 "habits" Clean, "V08";
    /// Inspections are not counted: everything stays new.
    InspectionForgotten = "inspection_forgotten": P7 "mind.inspected" Clean, "V01";
    /// Traits correct choices in danger.
    TraitsInDanger = "traits_in_danger": P12 "mind.intent" Clean, "V08";
    /// A failure of unknown cause teaches that the object fails.
    UnknownCauseTeaches = "unknown_cause_teaches": P7 "expectations" Clean, "V09";
    /// Damage and repair leave old evidence at its weight.
    NoVersionDiscount = "no_version_discount": P7 "expectations.list" Clean, "V09";
    /// Day teaches night as much as itself.
    WholeTransfer = "whole_transfer": P7 "expectations.list" Clean, "V09";
    /// One Outcome teaches twice.
    LearnsTwice = "learns_twice": P7 "expectations.list" Clean, "V22a";
    /// An override counts once for each event that tells it.
    ClusterPerEvent = "cluster_per_event": P4 "episodes" Clean, "V22a";
    /// One grant raises a budget by two.
    GrantTwice = "grant_twice": P2 "retries.totals" Clean, "V10";
    /// A moving target is tried again before it has been still.
    StabilityIgnored = "stability_ignored": P12 "queue.items" Clean, "V10";
}
