import IndoorVocabulary
import VenueModel
import VenuePackets

/// An importer of the configuration of ESPresense-companion (`config.yaml`).
///
///     let imported = try CompanionImporter(name: "House").read("config.yaml")
///     try VenuePacketWriter().write(imported.venue, toFolder: "house")
///     print(imported.report)
///
/// Floors become maps, rooms stay rooms, and nodes become receivers of tags. An item that can't be used is left out and
/// reported, unless the importer is strict.
public struct CompanionImporter: Sendable {
    /// The number of the venue; nil computes it from the name.
    package var venueID: VenueID?
    /// The version of the packet.
    package var version: Int
    /// The name of the venue, which the file doesn't have.
    package var name: String
    /// Whether one item that can't be used refuses the file, instead of being left out.
    package var isStrict: Bool

    /// Creates an importer.
    ///
    /// - Parameters:
    ///   - name: the name of the venue, which the file doesn't have.
    ///   - isStrict: whether one item that can't be used refuses the file. Otherwise the report names it.
    public init(venueID: VenueID? = nil, version: Int = 1, name: String, isStrict: Bool = false) {
        self.venueID = venueID
        self.version = version
        self.name = name
        self.isStrict = isStrict
    }

    /// Reads a file of up to 4 MiB.
    ///
    /// - Throws: `CompanionError` with all problems of the file.
    public func read(_ path: String) throws(CompanionError) -> CompanionImport {
        let bytes: [UInt8]
        do throws(BoundedFileError) {
            bytes = try BoundedFile.read(path, limit: CompanionConfiguration.Limit.file)
        } catch {
            throw CompanionError(
                file: path, problems: [CompanionProblem(place: nil, item: "", message: "it \(error)")])
        }
        return try read(bytes, named: path)
    }

    /// Reads the bytes of a file.
    ///
    /// - Parameter path: the name of the file in errors.
    func read(_ bytes: [UInt8], named path: String) throws(CompanionError) -> CompanionImport {
        let reader = CompanionReader(bytes)
        var translation = CompanionTranslation(reader.configuration)
        let venue = reader.problems.isEmpty ? translation.venue(id: venueID, version: version, name: name) : nil
        let flaws = reader.flaws + translation.flaws
        var problems = reader.problems
        // Without a venue, the items that were left out are the reason.
        if isStrict || venue == nil && problems.isEmpty {
            problems += flaws.sorted { ($0.line ?? 0, $0.column ?? 0) < ($1.line ?? 0, $1.column ?? 0) }
        }
        if let venue, problems.isEmpty {
            problems = IMDFImporter.problems(of: venue, from: "file").map {
                CompanionProblem(place: nil, item: "", message: $0.message)
            }
        }
        guard let venue, problems.isEmpty else {
            throw CompanionError(file: path, problems: Array(problems.prefix(InputLimits.standard.problems)))
        }
        var report = translation.report
        report.remarks = reader.remarks + report.remarks
        return CompanionImport(
            venue: venue, report: report, devices: reader.configuration.devices, corner: translation.corner,
            flips: [reader.configuration.flipsX, reader.configuration.flipsY], baseHeight: translation.baseHeight,
            broker: reader.configuration.broker)
    }
}

/// An imported configuration of ESPresense-companion.
public struct CompanionImport: Hashable, Sendable {
    /// The venue that was created from the file.
    public var venue: Venue
    /// The items that were omitted or changed.
    public var report: IMDFReport
    /// The devices that are no patterns.
    public var devices: [CompanionDevice]
    /// The place of the plan's top left corner in the coordinates of the file, and whether its axes have the other directions.
    package var frame: (origin: MapPoint, flipsX: Bool, flipsY: Bool) {
        (MapPoint(x: corner[0], y: corner[1]), flips[0], flips[1])
    }
    /// The coordinates of the corner, and the directions of the axes.
    fileprivate var corner: [Double]
    fileprivate var flips: [Bool]
    /// The height of the map with the elevation 0 in the coordinates of the file; nil if unknown.
    package var baseHeight: Double?
    /// The address of the broker, such as `mqtt://user@host`, without the password; nil if the file has none.
    public var broker: String?
}

/// A tag that a configuration names.
public struct CompanionDevice: Hashable, Sendable {
    /// The id under which nodes report the tag, or else its name.
    public var key: String
    /// The display name; nil for the id.
    public var name: String?
    /// Another id under which nodes may report it.
    public var alias: String?
    /// Its line in the file.
    public var line: Int

    /// Creates a device.
    package init(key: String, name: String?, alias: String? = nil, line: Int) {
        self.key = key
        self.name = name
        self.alias = alias
        self.line = line
    }
}

/// A problem in a configuration of ESPresense-companion.
public struct CompanionProblem: Hashable, Sendable, CustomStringConvertible {
    /// The line, from 1; nil for the whole file.
    public var line: Int?
    /// The column in characters, from 1; nil for the whole file.
    public var column: Int?
    /// The item, such as `node Kitchen`; empty for the file.
    public var item: String
    /// The problem and its remedy.
    public var message: String

    init(place: YAMLPlace?, item: String, message: String) {
        line = place?.line
        column = place?.column
        self.item = item
        self.message = message
    }

    public var description: String {
        let place = line.map { "line \($0), column \(column ?? 1)" } ?? ""
        return PrintableText.line([place, item, message].filter { !$0.isEmpty }.joined(separator: ": "))
    }
}

/// A file that cannot be imported, with all its problems.
public struct CompanionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file that was read.
    public var file: String
    /// All problems; at least one.
    public var problems: [CompanionProblem]

    /// Creates an error.
    package init(file: String, problems: [CompanionProblem]) {
        self.file = file
        self.problems = problems
    }

    /// The file, then one problem per line.
    public var description: String {
        (["\(file) is not a usable configuration of ESPresense-companion:"] + problems.map { "  \($0)" })
            .joined(separator: "\n")
    }
}

/// Translates a configuration to a venue.
///
/// All maps have the same frame, so that a point has the same x and y on each floor. The frame contains the bounds
/// of all floors, and all rooms and nodes: files exist whose bounds are smaller than their rooms.
private struct CompanionTranslation {
    private let configuration: CompanionConfiguration
    private(set) var report = IMDFReport()
    /// What makes single items unusable, up to `InputLimits.problems`.
    private(set) var flaws: [CompanionProblem] = []
    private var numbers = IMDFNumbers()
    /// The place of the plan's top left corner in the coordinates of the file.
    private(set) var corner = [0.0, 0]
    /// The height of the map with the elevation 0 in the coordinates of the file.
    private(set) var baseHeight: Double?

    init(_ configuration: CompanionConfiguration) { self.configuration = configuration }

    /// The rectangle that is the plan of each floor.
    private struct Frame {
        var low: CompanionConfiguration.Point
        var high: CompanionConfiguration.Point
        var flipsX: Bool
        var flipsY: Bool

        var width: Double { Self.rounded(high.x - low.x) }
        var height: Double { Self.rounded(high.y - low.y) }

        func point(_ point: CompanionConfiguration.Point) -> MapPoint {
            MapPoint(
                x: Self.rounded(flipsX ? high.x - point.x : point.x - low.x),
                y: Self.rounded(flipsY ? high.y - point.y : point.y - low.y))
        }

        /// The number to the millimetre, which is far below the precision of a hand-drawn plan.
        static func rounded(_ value: Double) -> Double { (value * 1000).rounded() / 1000 }
    }

    mutating func venue(id: VenueID?, version: Int, name: String) -> Venue? {
        guard let frame = frame() else {
            flaws.append(
                CompanionProblem(
                    place: configuration.floors.first?.place, item: "",
                    message: "no floor has bounds or rooms; give the bounds as two corners"))
            return nil
        }
        let levels = levels()
        let base = zip(configuration.floors, levels).first { $1 == 0 }?.0.bounds?.low.z
        baseHeight = base
        corner = [frame.flipsX ? frame.high.x : frame.low.x, frame.flipsY ? frame.high.y : frame.low.y]
        let place = place(of: frame)
        let venueID = id ?? VenueID(rawValue: numbers.number(of: "venue", for: name))
        report.identities.append(
            IMDFReport.Identity(kind: "venue", number: venueID.rawValue, featureType: "file", id: "config"))
        var maps: [VenueMap] = []
        var rooms: [Room] = []
        for (floor, level) in zip(configuration.floors, levels) {
            let mapID = MapID(rawValue: numbers.number(of: "map", for: floor.id.lowercased()))
            let elevation = floor.bounds?.low.z.flatMap { low in base.map { Frame.rounded(low - $0) } }
            maps.append(
                VenueMap(
                    id: mapID, name: floor.name, level: level, width: frame.width, height: frame.height,
                    elevation: elevation, georeference: place.map { .center($0.center, bearing: $0.bearing) }))
            identify("map", mapID.rawValue, "floor", floor.id)
            for (part, room) in floor.rooms.enumerated() {
                if let room = self.room(room, part, of: floor, on: mapID, frame) { rooms.append(room) }
            }
        }
        let receivers = configuration.nodes.compactMap { receiver($0, maps, frame) }
        if receivers.isEmpty {
            remark("file", "config", .changed, "it has no usable node; 'track' needs receivers: set them in venue.json")
        }
        let diagonal = (frame.width * frame.width + frame.height * frame.height).squareRoot()
        return Venue(
            id: venueID, name: name, version: version, coordinate: place?.center,
            radius: place.map { _ in max(1, (diagonal / 2).rounded(.up)) }, maps: maps, receivers: receivers,
            rooms: rooms)
    }

    private mutating func identify(_ kind: String, _ number: Int, _ type: String, _ id: String) {
        report.identities.append(IMDFReport.Identity(kind: kind, number: number, featureType: type, id: id))
    }

    /// Notes a valid item that a packet can't contain as it is.
    private mutating func remark(_ kind: String, _ id: String, _ outcome: IMDFReport.Outcome, _ message: String) {
        report.remarks.append(IMDFReport.Remark(featureType: kind, id: id, outcome: outcome, reason: message))
    }

    /// Notes an item that can't be used as it is.
    private mutating func flaw(
        _ place: YAMLPlace, _ kind: String, _ id: String, _ outcome: IMDFReport.Outcome, _ message: String
    ) {
        if flaws.count < InputLimits.standard.problems {
            flaws.append(CompanionProblem(place: place, item: "\(kind) \(id)", message: message))
        }
        remark(kind, id, outcome, message)
    }

    // MARK: Frame

    private mutating func frame() -> Frame? {
        var points: [CompanionConfiguration.Point] = []
        for floor in configuration.floors {
            if let bounds = floor.bounds { points += [bounds.low, bounds.high] }
            points += floor.rooms.flatMap(\.corners)
        }
        let hasFloor = !points.isEmpty
        points += configuration.nodes.map(\.point)
        guard hasFloor, var low = points.first, var high = points.first else { return nil }
        for point in points {
            (low.x, low.y) = (min(low.x, point.x), min(low.y, point.y))
            (high.x, high.y) = (max(high.x, point.x), max(high.y, point.y))
        }
        guard high.x - low.x > 0.001, high.y - low.y > 0.001 else { return nil }
        return Frame(low: low, high: high, flipsX: configuration.flipsX, flipsY: configuration.flipsY)
    }

    /// Returns whether points lie within the bounds of a floor, to the millimetre; true without bounds.
    private static func contains(
        _ points: [CompanionConfiguration.Point], _ bounds: CompanionConfiguration.Bounds?
    ) -> Bool {
        guard let bounds else { return true }
        let (low, high, margin) = (bounds.low, bounds.high, 0.001)
        return points.allSatisfy { point in
            point.x >= low.x - margin && point.x <= high.x + margin && point.y >= low.y - margin
                && point.y <= high.y + margin
        }
    }

    /// Returns the levels of the floors: consecutive numbers in the order of their heights, 0 for the one whose height is
    /// next to 0. Floors of one height are on one level if they lie side by side.
    private mutating func levels() -> [Int] {
        let floors = configuration.floors
        let order = floors.indices.sorted { first, second in
            let heights = (floors[first].bounds?.low.z, floors[second].bounds?.low.z)
            guard let low = heights.0, let high = heights.1, low != high else { return first < second }
            return low < high
        }
        var ordinals = [Int](repeating: 0, count: floors.count)
        var group: [Int] = []
        var ordinal = 0
        for index in order {
            let bounds = floors[index].bounds
            let isBeside = group.allSatisfy { other in
                guard let bounds, let other = floors[other].bounds, let height = bounds.low.z else { return false }
                return height == other.low.z && !bounds.overlaps(other)
            }
            if !isBeside {
                if let last = group.last, bounds?.low.z == floors[last].bounds?.low.z {
                    remark(
                        "floor", floors[index].id, .changed,
                        "its bounds say no other height than those of floor \(floors[last].id): it is taken as the "
                            + "one above")
                }
                ordinal += 1
                group = []
            }
            group.append(index)
            ordinals[index] = ordinal
        }
        let ground = floors.indices.min { first, second in
            let heights = (
                abs(floors[first].bounds?.low.z ?? .infinity), abs(floors[second].bounds?.low.z ?? .infinity)
            )
            return heights.0 == heights.1 ? ordinals[first] < ordinals[second] : heights.0 < heights.1
        }
        let zero = ground.map { ordinals[$0] } ?? 0
        return ordinals.map { $0 - zero }
    }

    /// Returns the coordinate of the centre of the frame, and the bearing of its upper edge.
    ///
    /// ESPresense-companion rotates x and y by `rotation` clockwise, y to the north and x to the east before. A plan
    /// that is a mirror image of that has no georeference.
    private mutating func place(of frame: Frame) -> (center: Coordinate, bearing: Double)? {
        guard let location = configuration.location else { return nil }
        guard frame.flipsX != frame.flipsY else {
            remark(
                "file", "gps", .leftOut,
                "with flip_x and flip_y, the plan is a mirror image of the house, which has no coordinates")
            return nil
        }
        let turn = (location.rotation + (frame.flipsY ? 0 : 180)).truncatingRemainder(dividingBy: 360)
        let bearing = turn < 0 ? turn + 360 : turn
        // A plan around the origin, which is then moved until its origin is there.
        let plan = try? GeoTransform(
            .center(location.origin, bearing: bearing), width: frame.width, height: frame.height)
        let origin = frame.point(CompanionConfiguration.Point(x: 0, y: 0))
        return plan.map { plan in
            (plan.coordinate(at: MapPoint(x: frame.width - origin.x, y: frame.height - origin.y)), bearing)
        }
    }

    // MARK: Rooms and nodes

    private mutating func room(
        _ room: CompanionConfiguration.Room, _ part: Int, of floor: CompanionConfiguration.Floor, on mapID: MapID,
        _ frame: Frame
    ) -> Room? {
        var corners = room.corners.map(frame.point)
        if corners.count > 1, corners.first == corners.last { corners.removeLast() }
        if let defect = PolygonDefect(in: corners) {
            flaw(room.place, "room", room.name, .leftOut, "\(defect); correct its points")
            return nil
        }
        if !Self.contains(room.corners, floor.bounds) {
            flaw(
                room.place, "room", room.name, .changed,
                "it reaches beyond the bounds of its floor: the plan is enlarged")
        }
        let earlier = floor.rooms[..<part].count { $0.id == room.id }
        let number = numbers.number(of: "room", for: "\(floor.id.lowercased())/\(room.id)", part: earlier)
        identify("room", number, "room", room.id)
        return Room(id: number, name: room.name, mapID: mapID, area: .polygon(corners))
    }

    private mutating func receiver(
        _ node: CompanionConfiguration.Node, _ maps: [VenueMap], _ frame: Frame
    ) -> VenueReceiver? {
        var candidates: [Int] = []
        for name in node.floors {
            let found = configuration.floors.firstIndex { $0.id.lowercased() == name.lowercased() }
            if let found {
                candidates.append(found)
            } else {
                flaw(node.place, "node", node.id, .changed, "its floor \(name) is unknown; give the id of a floor")
            }
        }
        if candidates.isEmpty {
            if node.floors.isEmpty {
                flaw(node.place, "node", node.id, .changed, "it has no floors: its height selects one")
            }
            candidates = Array(configuration.floors.indices)
        }
        guard
            let index = candidates.first(where: {
                configuration.floors[$0].bounds?.contains(height: node.point.z) ?? false
            }) ?? candidates.first
        else { return nil }
        let floor = configuration.floors[index]
        if node.floors.count > 1 {
            remark("node", node.id, .changed, "it is on several floors: it is set on floor \(floor.id)")
        }
        if !Self.contains([node.point], floor.bounds) {
            flaw(
                node.place, "node", node.id, .changed,
                "it is outside the bounds of its floor: the plan is enlarged")
        }
        let aliases = node.name.map { [$0] } ?? []
        return VenueReceiver(
            id: node.id, aliases: aliases.filter { alias in !configuration.nodes.contains { $0.id == alias } },
            identity: VenueReceiver.identity(for: node.id), mapID: maps[index].id, point: frame.point(node.point),
            z: height(of: node, above: floor))
    }

    /// Returns the height of a node above its floor.
    private mutating func height(
        of node: CompanionConfiguration.Node, above floor: CompanionConfiguration.Floor
    ) -> Double? {
        guard let z = node.point.z else {
            flaw(node.place, "node", node.id, .changed, "its point has no height; give metres as [x, y, z]")
            return nil
        }
        guard let low = floor.bounds?.low.z, let high = floor.bounds?.high.z else { return z }
        // ESPresense-companion warns of such a node: heights have the same origin on all floors.
        if !(low...high).contains(z), (0...(high - low)).contains(z) {
            flaw(
                node.place, "node", node.id, .changed,
                "its height \(z) is not within \(low) to \(high) of its floor: it is taken as the height above the floor"
            )
            return z
        }
        return Frame.rounded(z - low)
    }
}
