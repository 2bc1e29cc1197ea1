import IndoorLocalization

extension ParsedArguments {
    /// The place that `--fix MAP,X,Y,RADIUS` gives; nil without the option.
    ///
    /// - Throws: `UsageError` if it is none.
    func fix() throws(UsageError) -> Fix? {
        guard let text = value("fix") else { return nil }
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().compactMap { Double($0) }.filter(\.isFinite)
        guard parts.count == 4, numbers.count == 3, let map = Int(parts[0]), numbers[2] > 0 else {
            throw UsageError(
                message: "--fix must be MAP,X,Y,RADIUS, as in 1,3.5,7,1 with a radius above 0, not '\(text)'",
                command: syntax.name)
        }
        return Fix(
            instant: .zero, mapID: MapID(rawValue: map), point: MapPoint(x: numbers[0], y: numbers[1]),
            radius: numbers[2])
    }
}

extension SettingsStack {
    /// The same settings, with one venue as the only one that is accepted.
    func forcing(_ venue: VenueID) throws -> SettingsStack {
        var settings = self
        try settings.override("forcedVenue", JSONValue.number(Double(venue.rawValue)))
        settings.apply()
        return settings
    }
}
