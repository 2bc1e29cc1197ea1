import IndoorLocalization

/// A satellite receiver whose positions somebody else sees, too.
struct TappedGNSSSource: GNSSSource {
    let source: any GNSSSource
    let tap: @Sendable (SensorReading) -> Void

    func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
        AsyncThrowingStream { continuation in
            let task = Task {
                do {
                    for try await fix in source.fixes() {
                        tap(.gnss(fix))
                        continuation.yield(fix)
                    }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                }
            }
            continuation.onTermination = { _ in task.cancel() }
        }
    }
}
