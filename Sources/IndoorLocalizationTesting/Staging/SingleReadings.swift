import IndoorLocalization

// These functions let a test send single readings to a state machine without a decoder.

extension LocalizationMachine.Event {
    /// Returns the event of a reading without earlier readings.
    package static func reading(_ reading: SensorReading) -> Self { .reading(DecodedReading(first: reading)) }
}

extension FloorPlanLocalizerMachine.Event {
    /// Returns the event of a reading without earlier readings.
    package static func reading(_ reading: SensorReading, delay: Duration) -> Self {
        .reading(DecodedReading(first: reading), delay: delay)
    }
}

extension ScanMachine.Event {
    /// Returns the event of a reading without earlier readings.
    package static func reading(_ reading: SensorReading) -> Self { .reading(DecodedReading(first: reading)) }
}

extension DecodedReading {
    fileprivate init(first reading: SensorReading) {
        var decoder = ReadingDecoder()
        self = decoder.decode(reading)
    }
}
