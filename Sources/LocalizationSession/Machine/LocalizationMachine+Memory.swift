import IndoorPositioning
import IndoorVocabulary

/// A memory, and when it was true.
struct RestoredMemory: Hashable, Sendable {
    var memory: SessionMemory
    /// When it was true, in the session's time; nil until a session has one.
    var instant: Instant?

    /// Moves it onto a timeline that begins elsewhere.
    mutating func shift(by duration: Duration) {
        guard let instant else { return }
        self.instant = instant.advanced(by: duration)
    }

    /// The memory as it is to be handed on now.
    func memory(at now: Instant) -> SessionMemory {
        var memory = memory
        if let instant { memory.age = max(.zero, instant.duration(to: now)) }
        return memory
    }
}

// What one session leaves to the next.
extension LocalizationMachine {
    /// The session memory now. What nothing was heard of stays as an earlier session left it.
    package func memory(at now: Instant) -> SessionMemory {
        var memory = SessionMemory()
        if let visit, restored == nil || !visit.belief.places.isEmpty {
            memory.stay = visit.memory(at: now)
        } else if let kept = state.isOver ? last ?? restored : restored {
            memory = kept.memory(at: now)
        }
        memory.calibration = calibration
        return memory
    }

    /// Restores the memory of an earlier session for the next one: it counts only while none is on.
    mutating func restore(_ memory: SessionMemory) -> Transition {
        guard state.isOver else { return Transition(state: state) }
        restored = RestoredMemory(memory: memory)
        last = nil
        if let calibration = memory.calibration { earlierCalibration = calibration }
        return Transition(state: state)
    }

    /// The session begins: from now on the restored memory grows older.
    mutating func dateRestoredMemory(at now: Instant) {
        last = nil
        guard let age = restored?.memory.age else { return }
        restored?.instant = now.advanced(by: .zero - age)
    }

    /// The session ends; what it knew is there until the next one.
    ///
    /// - Parameter hasLeft: whether it was told that rooms and fences were left.
    mutating func keepMemory(at now: Instant, hasLeft: Bool) {
        var memory = memory(at: now)
        if hasLeft, visit != nil {
            memory.stay?.rooms = []
            memory.stay?.fences = []
            memory.stay?.geofences = []
        }
        last = RestoredMemory(memory: memory, instant: now.advanced(by: .zero - memory.age))
        restored = nil
    }

    /// The venue that the device was in lately; nil without a memory, or with one that is too old.
    package func restoredVenue(at now: Instant) -> VenueID? {
        guard let restored, let instant = restored.instant, instant.duration(to: now) < settings.memoryTimeout else {
            return nil
        }
        return restored.memory.stay?.venueID
    }

    /// A visit begins as an earlier session left it.
    func restore(_ visit: inout VenueVisit<Belief>) {
        guard let restored, let instant = restored.instant, let stay = restored.memory.stay else { return }
        visit.begin(with: stay, of: instant, timeout: settings.memoryTimeout, watching: geofences)
    }

    /// Moves the memories onto a timeline that begins elsewhere.
    mutating func shiftMemory(by duration: Duration) {
        restored?.shift(by: duration)
        last?.shift(by: duration)
    }
}
