import CNATS
import Dispatch
import Glibc
import IndoorVocabulary
import TagTracking

extension NATSBucket {
    /// The current values of the bucket, and each later write, until the caller ends the stream.
    ///
    /// If the connection breaks, the stream goes on with the values that are current then; it doesn't contain those that
    /// were replaced in the meantime. It doesn't report values that expire.
    func changes() -> AsyncStream<Entry> {
        let (changes, continuation) = AsyncStream.makeStream(of: Entry.self)
        let isEnded = Flag()
        continuation.onTermination = { _ in isEnded.raise() }
        DispatchQueue(label: "IndoorLocalization.NATSBucket", qos: .userInitiated).async { [self] in
            var last: UInt64 = 0
            while !isEnded.isRaised {
                follow(isEnded) { entry in
                    guard entry.revision > last else { return }
                    last = entry.revision
                    continuation.yield(entry)
                }
            }
        }
        return changes
    }

    /// Reads changes until the connection breaks.
    private func follow(_ isEnded: Flag, _ give: (Entry) -> Void) {
        let generation = generation
        guard let watcher = try? watcher(waitingFor: 200) else {
            usleep(100_000)
            return
        }
        while !isEnded.isRaised, generation == self.generation {
            do throws(NATSFailure) {
                // After the last current value comes nil.
                if let entry = try watcher.next() { give(entry) }
            } catch {
                if error.status != NATS_TIMEOUT { return }
            }
        }
    }
}
