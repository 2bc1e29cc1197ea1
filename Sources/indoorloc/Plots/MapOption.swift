import IndoorLocalization

extension ParsedArguments {
    /// The map given by `--map`; nil if it was not given.
    func mapOption() throws(UsageError) -> MapID? {
        has("map") ? MapID(rawValue: try number("map", in: 0...Int.max, else: 0)) : nil
    }
}

extension MapID {
    /// Returns the map of a venue with this number.
    ///
    /// - Throws: `UsageError` if the venue has no such map.
    func checked(in venue: Venue, command: String) throws(UsageError) -> VenueMap {
        if let map = venue.map(self) { return map }
        let known = venue.maps.map(\.id.description).joined(separator: ", ")
        throw UsageError(message: "--map: '\(venue.name)' has no map \(self), only \(known)", command: command)
    }
}
