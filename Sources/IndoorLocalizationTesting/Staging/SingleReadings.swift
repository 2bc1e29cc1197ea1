import IndoorLocalization

// A test that hands single readings to a machine needs no decoder of its own.

extension LocalizationMachine.Event {
    /// The event of a reading that no other reading came before.
    package static func reading(_ reading: SensorReading) -> Self { .reading(DecodedReading(first: reading)) }
}

extension FloorPlanLocalizerMachine.Event {
    /// The event of a reading that no other reading came before.
    package static func reading(_ reading: SensorReading, delay: Duration) -> Self {
        .reading(DecodedReading(first: reading), delay: delay)
    }
}

extension ScanMachine.Event {
    /// The event of a reading that no other reading came before.
    package static func reading(_ reading: SensorReading) -> Self { .reading(DecodedReading(first: reading)) }
}

extension DecodedReading {
    fileprivate init(first reading: SensorReading) {
        var decoder = ReadingDecoder()
        self = decoder.decode(reading)
    }
}
