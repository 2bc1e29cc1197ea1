import IndoorLocalization

/// The command `regions watch`: prints beacon regions as they are entered and left.
struct RegionsWatchCommand: Command {
    static let syntax = CommandSyntax(
        name: "regions watch", operands: "", operandCount: 0...0,
        summary: "print the beacon regions that this device enters and leaves",
        details: """
            Prints one JSON line for each region that is entered or left: t (seconds since the first reading), type
            "region", event and region. With --rangings, also prints one line per second for each region that the device
            is in: type "ranging", region, and its beacons with uuid, major, minor, rssi (smoothed, dBm), distance (m)
            and proximity.

            REGION is NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR. The device leaves a region when it has
            received none of its beacons for 30 s, or for the setting scanner.regions.exitTimeout. The radio scans all
            the time.

            example: indoorloc regions watch --region home=7C2F0A10-0000-4000-8000-000000000010
            """,
        options: [
            CommandOption(name: "region", argument: "REGION", help: "a region to watch; may be repeated"),
            CommandOption(name: "rangings", help: "also print the beacons of each region once per second"), .settings,
            .set,
        ] + HeardSource.options + CommandOption.log)

    private let source: HeardSource
    private let regions: [(id: String, region: BeaconRegion)]
    private let printsRangings: Bool
    private let settings: ScannerSettings

    init(_ arguments: ParsedArguments) throws {
        _ = try arguments.required("region")
        regions = try (arguments.values["region"] ?? []).map(Self.region)
        for (index, one) in regions.enumerated()
        where regions[..<index].contains(where: { $0.id == one.id || $0.region == one.region }) {
            throw UsageError(message: "--region \(one.id) is given twice", command: Self.syntax.name)
        }
        printsRangings = arguments.has("rangings")
        settings = try arguments.settings().resolved.scanner
        source = try HeardSource(arguments)
    }

    /// Reads `NAME=UUID[:MAJOR[:MINOR]]`.
    private static func region(_ text: String) throws(UsageError) -> (id: String, region: BeaconRegion) {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let fields = parts.last?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        let numbers = fields.dropFirst().map { UInt16($0) }
        guard parts.count == 2, !parts[0].isEmpty, let uuid = fields.first.flatMap({ BeaconUUID(String($0)) }),
            numbers.count <= 2, !numbers.contains(nil)
        else {
            throw UsageError(
                message: "--region must be NAME=UUID, NAME=UUID:MAJOR or NAME=UUID:MAJOR:MINOR, not '\(text)'",
                command: syntax.name)
        }
        let region = BeaconRegion(
            uuid: uuid, major: numbers.first.flatMap(\.self), minor: numbers.dropFirst().first.flatMap(\.self))
        return (String(parts[0]), region)
    }

    func run() async throws {
        var listener = Listener(printsRangings: printsRangings)
        try await source.listen(HeardSource.settings(settings), &listener) { machine in
            for (id, region) in regions { _ = machine.regions.track(region, id: id) }
        }
    }

    /// Prints region events and rangings.
    private struct Listener: ScannerListener {
        let printsRangings: Bool
        private var lines = LiveOutput()

        init(printsRangings: Bool) { self.printsRangings = printsRangings }

        mutating func receive(_ directive: ScanMachine.Directive) throws {
            switch directive {
            case .emitRegionEvent(let event): try lines.line(event.json)
            case .emitRanging(let ranging) where printsRangings && !ranging.ranges.isEmpty:
                try lines.line(ranging.json)
            default: try reportTrouble(directive)
            }
        }

        mutating func write() throws -> Bool {
            try lines.write()
            return lines.isWritten
        }

        mutating func end() throws { try lines.end() }
    }
}

extension RegionEvent {
    /// The event as a line of JSON.
    fileprivate var json: String {
        var json = JSONText()
        json.add("t", instant.seconds, decimals: 3)
        json.add("type", "region")
        json.add("event", kind.rawValue)
        json.add("region", regionID)
        return json.text
    }
}

extension RegionRanging {
    /// The ranging as a line of JSON.
    fileprivate var json: String {
        var json = JSONText()
        json.add("t", instant.seconds, decimals: 3)
        json.add("type", "ranging")
        json.add("region", regionID)
        json.add(
            "beacons",
            ranges.map { range in
                var json = JSONText()
                json.add("uuid", range.beacon.uuid.description)
                json.add("major", Int(range.beacon.major))
                json.add("minor", Int(range.beacon.minor))
                json.add("rssi", range.rssi, decimals: 1)
                json.add("distance", range.distance?.meters, decimals: 2)
                json.add("proximity", range.proximity?.rawValue)
                return json
            })
        return json.text
    }
}
