/// The learning of radio maps from a survey, one at a time, and the use of the latest one.
///
/// A request during a learning starts another one after it, so that the latest walks are in the map, and frequent requests
/// don't prevent that one ends.
package struct SurveyMapMachine: Hashable, Sendable {
    /// An event.
    package enum Event: Sendable {
        /// A walk has ended, or a person wants a map.
        case requested
        /// The learning has done some of its steps.
        case progressed(done: Int, steps: Int)
        /// A map was learned: whether the system uses it already, and why a part of the walks isn't in it.
        case learned(SurveyMapJob.Figures, isInUse: Bool = false, problem: String? = nil)
        /// The learning failed, with the reason.
        case failed(String)
        /// A person wants the system to use the latest map.
        case adopt
        /// A person wants the edition before.
        case takeBack
        /// The packet has another edition, which the system begins to use: whether it has the latest map.
        case written(isAdopted: Bool)
        /// The system uses the packet.
        case used
        /// The packet couldn't be changed or used, with the reason.
        case refused(String)
        /// The process ends.
        case stopped
    }

    /// What the shell does.
    package enum Directive: Hashable, Sendable {
        case learn
        case adopt
        case takeBack
    }

    /// The reason why a request has no effect.
    package enum Refusal: Error, Hashable, Sendable, CustomStringConvertible {
        case noMap
        case isInUse
        case isChanging

        package var description: String {
            switch self {
            case .noMap: "No radio map was learned yet. End a walk with at least two marks."
            case .isInUse: "The radio map of the walks is already in use."
            case .isChanging: "The packet is being changed. Try again in a moment."
            }
        }
    }

    /// The steps of the learning that runs; nil without one.
    package private(set) var progress: BackgroundThread.Progress?
    /// What the latest map was learned from; nil without one.
    package private(set) var figures: SurveyMapJob.Figures?
    /// Why the latest learning or change of the packet failed, or left recordings out; nil without a problem.
    package private(set) var problem: String?
    /// Whether the system uses the latest map.
    package private(set) var isAdopted = false
    /// Whether another learning follows.
    private var isRequested = false
    private var isStopped = false
    /// Whether the packet is being changed.
    package private(set) var isChanging = false

    /// Creates a machine without a map.
    package init() {}

    /// Handles an event.
    ///
    /// - Throws: `Refusal` of a person's request; then nothing changes.
    package mutating func handle(_ event: Event) throws(Refusal) -> Directive? {
        switch event {
        case .requested:
            guard !isStopped else { return nil }
            isRequested = true
            return next()
        case .progressed(let done, let all):
            if progress != nil { progress = BackgroundThread.Progress(done: done, steps: all) }
        case .learned(let figures, let isInUse, let problem):
            (self.figures, isAdopted, self.problem) = (figures, isInUse, problem)
            return ended()
        case .failed(let reason):
            problem = reason
            return ended()
        case .adopt:
            guard figures != nil else { throw .noMap }
            guard !isAdopted else { throw .isInUse }
            return try begin(.adopt)
        case .takeBack: return try begin(.takeBack)
        case .written(let isAdopted): self.isAdopted = isAdopted
        case .used: return changed(nil)
        case .refused(let reason): return changed(reason)
        case .stopped: (isStopped, isRequested) = (true, false)
        }
        return nil
    }

    private mutating func begin(_ change: Directive) throws(Refusal) -> Directive {
        guard !isChanging else { throw .isChanging }
        (isChanging, problem) = (true, nil)
        return change
    }

    private mutating func changed(_ problem: String?) -> Directive? {
        (isChanging, self.problem) = (false, problem)
        return next()
    }

    private mutating func ended() -> Directive? {
        progress = nil
        return next()
    }

    /// Begins the requested learning. During a change of the packet, it would begin with an edition that is about to end.
    private mutating func next() -> Directive? {
        guard isRequested, progress == nil, !isChanging else { return nil }
        (isRequested, progress) = (false, BackgroundThread.Progress())
        return .learn
    }
}
