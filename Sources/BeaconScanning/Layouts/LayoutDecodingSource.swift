import IndoorVocabulary

/// A source that finds beacons of other layouts, too: made with `decoding(_:)`.
///
/// Behind each advertisement that holds a frame of one of the layouts, and no beacon that is known anyway, the source gives
/// the sighting of that beacon. What is malformed stays an advertisement.
public struct LayoutDecodingSource<Source: ScanSource>: WrappingScanSource {
    private let source: Source
    private let layouts: [BeaconLayout]

    init(source: Source, layouts: [BeaconLayout]) {
        self.source = source
        self.layouts = layouts.filter { !$0.isExtra }
    }

    /// That of the source.
    public var pace: ScanPace { source.pace }

    /// That of the source.
    public var wallClock: WallClock? { source.wallClock }

    /// Begins to scan.
    package func readings(
        timing: ScanTiming?, reporting report: @escaping @Sendable (LocalizationError) -> Void
    ) -> AsyncThrowingStream<SensorReading, any Error> {
        .produced { continuation in
            for try await reading in source.beginReadings(timing: timing, reporting: report) {
                continuation.yield(reading)
                if let sighting = layouts.sighting(in: reading) { continuation.yield(.sighting(sighting)) }
            }
        }
    }
}

extension [BeaconLayout] {
    /// The sighting of a beacon of one of these layouts in an advertisement that holds no beacon that is known anyway.
    package func sighting(in reading: SensorReading) -> Sighting? {
        guard !isEmpty, case .advertisement(let advertisement) = reading, (try? advertisement.sighting()) == nil else {
            return nil
        }
        return advertisement.sighting(by: self)
    }
}

extension LayoutDecodingSource: SteerableScanSource where Source: SteerableScanSource {
    /// That of the source.
    public var steering: ScanSteering? { source.steering }
}

extension ScanSource {
    /// This source, which finds beacons of these layouts, too. The radio must deliver all advertisements.
    public func decoding(_ layouts: [BeaconLayout]) -> LayoutDecodingSource<Self> {
        LayoutDecodingSource(source: self, layouts: layouts)
    }
}

extension Advertisement {
    /// The sighting of the beacon whose frame is laid out by the first of these layouts that fits; nil if none fits, or the
    /// RSSI is no measurement.
    public func sighting(by layouts: [BeaconLayout]) -> Sighting? {
        guard Sighting.isMeasurement(rssi: rssi) else { return nil }
        for layout in layouts {
            guard let frame = try? layout.decode(data.span), let beacon = frame.identity else { continue }
            return Sighting(
                instant: instant, beacon: beacon, rssi: rssi, measuredPower: frame.measuredPower.map(Double.init),
                address: address)
        }
        return nil
    }
}
