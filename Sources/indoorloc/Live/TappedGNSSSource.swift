import IndoorLocalization

/// A satellite receiver whose positions somebody else sees, too.
struct TappedGNSSSource: GNSSSource {
    let source: any GNSSSource
    let tap: @Sendable (SensorReading) -> Void

    func fixes() -> AsyncThrowingStream<GNSSFix, any Error> {
        .produced { continuation in
            for try await fix in source.fixes() {
                tap(.gnss(fix))
                continuation.yield(fix)
            }
        }
    }
}
