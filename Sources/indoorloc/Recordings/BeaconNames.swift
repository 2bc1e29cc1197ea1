import IndoorLocalization

/// The names of beacons in figures, and beacons by their names.
struct BeaconNames: Sendable {
    private let beacons: [BeaconIdentity]
    /// The names of the beacons that the packet doesn't name by UUID, major and minor.
    private let packetNames: [BeaconIdentity: String]
    private let areShort: Bool

    /// Creates the names of the beacons of a venue and its radio map.
    init(_ venue: Venue) {
        beacons = venue.beacons.map(\.identity) + (venue.radioMap?.beacons.map(\.identity) ?? [])
        let named = venue.beacons.filter { $0.naming != .uuid }.map { ($0.identity, $0.name) }
        let packetNames = Dictionary(named) { first, _ in first }
        self.packetNames = packetNames
        let others = beacons.filter { packetNames[$0] == nil }
        areShort = Set(others.map(Self.short)).count == Set(others).count
    }

    /// The name in the packet; without one, major and minor, or all three parts if major and minor are ambiguous.
    func name(of beacon: BeaconIdentity) -> String {
        packetNames[beacon] ?? (areShort ? Self.short(beacon) : beacon.description)
    }

    private static func short(_ beacon: BeaconIdentity) -> String { "\(beacon.major)/\(beacon.minor)" }

    /// Returns the beacon of an option's value.
    ///
    /// - Throws: `UsageError` if the venue has no such beacon.
    func beacon(_ text: String, command: String) throws(UsageError) -> BeaconIdentity {
        let found = Set(beacons.filter { isName(text, of: $0) })
        if let beacon = found.first, found.count == 1 { return beacon }
        let examples = beacons.prefix(3).map { name(of: $0) }.joined(separator: ", ")
        let reason =
            found.count > 1
            ? "names several beacons; use UUID/major/minor" : "is not a beacon of the venue, such as \(examples)"
        throw UsageError(message: "--beacon: '\(text)' \(reason)", command: command)
    }

    private func isName(_ text: String, of beacon: BeaconIdentity) -> Bool {
        let lowercased = text.lowercased()
        if beacon.description.lowercased() == lowercased { return true }
        if let name = packetNames[beacon] { return name.lowercased() == lowercased }
        return Self.short(beacon) == text
    }
}
