import IndoorVocabulary

extension Advertisement {
    /// The sighting of the beacon that sent this; nil if it is no beacon, or the RSSI is no measurement.
    ///
    /// - Throws: what is malformed in the data.
    public func sighting() throws(AdvertisementError) -> Sighting? {
        guard case .beacon(let frame) = try BeaconFrame.decode(data.span) else { return nil }
        guard Sighting.isMeasurement(rssi: rssi) else { return nil }
        return Sighting(
            instant: instant, beacon: frame.beacon, rssi: rssi, measuredPower: Double(frame.measuredPower),
            address: address)
    }
}
