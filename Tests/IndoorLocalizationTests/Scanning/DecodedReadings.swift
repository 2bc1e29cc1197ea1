import IndoorLocalization

extension AdvertisingEventDecoder {
    /// Hands over what an event holds in order, as a source's stream does.
    mutating func decode(_ event: Span<UInt8>, at instant: Instant, _ body: (SensorReading) -> Void) {
        decode(event, at: instant) {
            body(.advertisement($0))
        } sighting: {
            body(.sighting($0))
        }
    }
}
