import IndoorLocalization
import VenuePackets

/// The session memory of a service, stored in a folder at intervals and at its end.
struct ServiceMemory {
    private let store: SessionMemoryStore
    private let interval: Duration
    private var lastWrite = ContinuousClock.now
    /// Why the memory could not be written the last time; nil if it could.
    private var trouble: SessionMemoryStoreError?

    init(_ store: SessionMemoryStore, every interval: Duration) {
        self.store = store
        self.interval = interval
    }

    /// Whether it is time to write again.
    var isDue: Bool { lastWrite.duration(to: .now) >= interval }

    /// Restores the stored memory to a localizer, and reports the outcome on standard error.
    func restore(to localizer: Localizer) async {
        switch store.read() {
        case .none: break
        case .memory(let memory, let age):
            await localizer.restore(memory, after: age)
            let place = memory.stay.map { "venue \($0.venueID)" } ?? "no venue"
            let total = Int((memory.age + age).seconds)
            StandardError.line("remembering \(place), \(total) s old, from \(store.path)")
        case .unusable(let reason, let path):
            let fate = path.map { "set aside as \($0)" } ?? "left there"
            StandardError.line("\(reason); \(fate), and begun without a memory")
        }
    }

    /// Keeps a memory. That it can't be kept ends no service: it is told once.
    mutating func keep(_ memory: SessionMemory) {
        lastWrite = .now
        do throws(SessionMemoryStoreError) {
            try store.write(memory)
            trouble = nil
        } catch {
            if trouble != error { StandardError.line("the memory is not kept: \(error)") }
            trouble = error
        }
    }
}
