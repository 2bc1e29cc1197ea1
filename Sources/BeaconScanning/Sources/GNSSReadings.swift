import IndoorVocabulary

/// The positions of a satellite receiver as readings, to be combined with other sources.
///
///     let source = CombinedSource(radio, with: [IIOSource(), GNSSReadings(GPSDSource())])
///
/// For a ``Localizer`` that continues without the radio, use its parameter `gnss` instead.
public struct GNSSReadings: ScanSource {
    private let receiver: any GNSSSource

    /// Creates a source from a receiver.
    public init(_ receiver: some GNSSSource) { self.receiver = receiver }

    public var pace: ScanPace { .live }

    public func readings() -> AsyncThrowingStream<SensorReading, any Error> {
        receiver.fixes().transformed { [.gnss($0)] }
    }
}
