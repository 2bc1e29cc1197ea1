import IndoorLocalization
import VenuePackets

/// The session memory of a service, stored in a folder at intervals and at its end.
struct ServiceMemory {
    private let store: SessionMemoryStore
    private let interval: Duration
    private var lastWrite = ContinuousClock.now
    /// The error of the last save; nil if it succeeded.
    private var trouble: SessionMemoryStoreError?

    init(_ store: SessionMemoryStore, every interval: Duration) {
        self.store = store
        self.interval = interval
    }

    /// Whether the next save is due.
    var isDue: Bool { lastWrite.duration(to: .now) >= interval }

    /// Restores the stored memory to a localizer, and reports the outcome on standard error.
    func restore(to localizer: Localizer) async {
        switch store.read() {
        case .none: break
        case .memory(let memory, let age):
            await localizer.restore(memory, after: age)
            let place = memory.stay.map { "venue \($0.venueID)" } ?? "no venue"
            let total = Int((memory.age + age).seconds)
            StandardError.line("restored the memory of \(place), \(total) s old, from \(store.path)", .info)
        case .unusable(let reason, let path):
            let fate = path.map { "moved to \($0)" } ?? "not moved"
            StandardError.line("\(reason); \(fate); the session begins without a memory", .warning)
        }
    }

    /// Saves a memory. A failure doesn't end the service; it is reported once.
    mutating func save(_ memory: SessionMemory) {
        lastWrite = .now
        do throws(SessionMemoryStoreError) {
            try store.write(memory)
            if trouble != nil { StandardError.line("the memory is saved again", .notice) }
            trouble = nil
        } catch {
            if trouble != error { StandardError.line("the memory can't be saved: \(error)", .warning) }
            trouble = error
        }
    }
}
