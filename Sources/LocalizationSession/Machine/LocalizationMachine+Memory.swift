import IndoorPositioning
import IndoorVocabulary

/// A session memory with its instant.
struct RestoredMemory: Hashable, Sendable {
    var memory: SessionMemory
    /// The instant of the memory, in the session's time; nil before a session begins.
    var instant: Instant?

    /// Moves the memory to a timeline with another origin.
    mutating func shift(by duration: Duration) {
        guard let instant else { return }
        self.instant = instant.advanced(by: duration)
    }

    /// Returns the memory with its age at an instant.
    func memory(at now: Instant) -> SessionMemory {
        var memory = memory
        if let instant { memory.age = max(.zero, instant.duration(to: now)) }
        return memory
    }
}

// The session memory, which a later session can restore.
extension LocalizationMachine {
    /// Returns the session memory. Parts without new readings keep their values from the earlier session.
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

    /// Restores the memory of an earlier session for the next one. Does nothing while a session is running.
    mutating func restore(_ memory: SessionMemory) -> Transition {
        guard state.isOver else { return Transition(state: state) }
        restored = RestoredMemory(memory: memory)
        last = nil
        if let calibration = memory.calibration { earlierCalibration = calibration }
        return Transition(state: state)
    }

    /// Sets the instant of the restored memory at the beginning of a session. The memory's age increases from then on.
    mutating func dateRestoredMemory(at now: Instant) {
        last = nil
        guard let age = restored?.memory.age else { return }
        restored?.instant = now.advanced(by: .zero - age)
    }

    /// Keeps the session memory at the end of a session, until the next one.
    ///
    /// - Parameter hasLeft: whether the session emitted exits from rooms and fences.
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

    /// Returns the venue of the restored memory; nil without a memory, or with one that is too old.
    package func restoredVenue(at now: Instant) -> VenueID? {
        guard let restored, let instant = restored.instant, instant.duration(to: now) < settings.memoryTimeout else {
            return nil
        }
        return restored.memory.stay?.venueID
    }

    /// Restores a visit from the memory of an earlier session.
    func restore(_ visit: inout VenueVisit<Belief>) {
        guard let restored, let instant = restored.instant, let stay = restored.memory.stay else { return }
        visit.begin(with: stay, of: instant, timeout: settings.memoryTimeout, watching: geofences)
    }

    /// Moves the memories to a timeline with another origin.
    mutating func shiftMemory(by duration: Duration) {
        restored?.shift(by: duration)
        last?.shift(by: duration)
    }
}
