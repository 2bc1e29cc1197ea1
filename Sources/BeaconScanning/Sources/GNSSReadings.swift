import IndoorVocabulary

/// The positions of a satellite receiver as readings, to be combined with other sources.
///
///     let source = CombinedSource(radio, with: [IIOSource(), GNSSReadings(GPSDSource())])
///
/// Beside a ``Localizer`` take its parameter `gnss` instead, if the session is to go on without the radio, too.
public struct GNSSReadings: ScanSource {
    private let receiver: any GNSSSource

    /// Creates a source that delivers what a receiver does.
    public init(_ receiver: some GNSSSource) { self.receiver = receiver }

    public var pace: ScanPace { .live }

    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        let fixes = receiver.fixes()
        return .produced { continuation in
            for try await fix in fixes { continuation.yield(.gnss(fix)) }
        }
    }
}
