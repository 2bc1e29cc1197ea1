import IndoorVocabulary

/// A source that also decodes beacons of other layouts; create it with `decoding(_:)`.
///
/// After each advertisement that has a frame of one of the layouts and no beacon of a built-in format, the source
/// delivers the sighting of that beacon. It doesn't decode malformed advertisements.
public struct LayoutDecodingSource<Source: ScanSource>: WrappingScanSource {
    private let source: Source
    private let layouts: [BeaconLayout]

    init(source: Source, layouts: [BeaconLayout]) {
        self.source = source
        self.layouts = layouts.filter { !$0.isExtra }
    }

    /// The pace of the source.
    public var pace: ScanPace { source.pace }

    /// The wall clock of the source.
    public var wallClock: WallClock? { source.wallClock }

    /// Begins to scan.
    package func readings(
        timing: ScanTiming?, reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        source.beginReadings(timing: timing, reporting: report).transformed { [layouts] reading in
            layouts.sighting(in: reading).map { [reading, .sighting($0)] } ?? [reading]
        }
    }
}

extension [BeaconLayout] {
    /// Returns the sighting of a beacon of one of these layouts in an advertisement without a beacon of a built-in format.
    package func sighting(in reading: SensorReading) -> Sighting? {
        guard !isEmpty, case .advertisement(let advertisement) = reading, (try? advertisement.sighting()) == nil else {
            return nil
        }
        return advertisement.sighting(by: self)
    }
}

extension LayoutDecodingSource: RadioHoldingSource {
    package func following(
        _ steering: ScanSteering, clock: some Clock<Duration>
    ) throws(LocalizationError) -> (any ScanSource)? {
        try source.withControl(steering, clock: clock).map { $0.decodingAny(layouts) }
    }
}

extension ScanSource {
    /// Returns this source with a decoder; callable on an `any ScanSource`.
    fileprivate func decodingAny(_ layouts: [BeaconLayout]) -> any ScanSource { decoding(layouts) }
}

extension LayoutDecodingSource: SteerableScanSource where Source: SteerableScanSource {
    /// The control of the source.
    package var steering: ScanSteering? { source.steering }
}

extension ScanSource {
    /// Returns this source with a decoder for further layouts. The source must deliver all advertisements.
    public func decoding(_ layouts: [BeaconLayout]) -> LayoutDecodingSource<Self> {
        LayoutDecodingSource(source: self, layouts: layouts)
    }
}

extension Advertisement {
    /// Returns the sighting of a beacon, decoded by the first of these layouts that matches; nil if none matches, or
    /// the RSSI is not a measurement.
    package func sighting(by layouts: [BeaconLayout]) -> Sighting? {
        guard hasMeasurement else { return nil }
        for layout in layouts {
            guard let frame = try? layout.decode(data.span), let beacon = frame.identity else { continue }
            return Sighting(
                instant: instant, beacon: beacon, rssi: rssi, measuredPower: frame.measuredPower.map(Double.init),
                address: address)
        }
        return nil
    }
}
