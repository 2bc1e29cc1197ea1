import IndoorLocalization
import VenueExchange
import VenuePackets

/// The options of one plan.
struct PlanOption: Sendable {
    let path: String
    let scale: PlanScale
    let level: Int
    let name: String?
    let controlPoints: [PlanDrawing.ControlPoint]

    func drawing() throws -> PlanDrawing {
        var drawing = try PlanDrawing(readingImage: path, scale: scale, level: level, name: name)
        drawing.controlPoints = controlPoints
        return drawing
    }
}

extension ParsedArguments {
    /// Returns the plans of `venue new`.
    ///
    /// - Throws: `UsageError` if an option is invalid, or doesn't occur once for each plan.
    func plans() throws -> [PlanOption] {
        let paths = try (values["plan"] ?? []).map(InputFile.keeping)
        func each<Value>(_ option: String, _ read: (String) throws -> Value) throws -> [Value] {
            let texts = values[option] ?? []
            guard texts.isEmpty || texts.count == paths.count else {
                throw usage(
                    "--\(option) is given \(texts.count.counting("time")) for \(paths.count.counting("plan")); give it "
                        + "once for each")
            }
            return try texts.map(read)
        }
        let levels = try each("level") { text in
            guard let level = Int(text), (-1000...1000).contains(level) else {
                throw usage("--level must be a whole number from -1000 to 1000, not '\(text)'")
            }
            return level
        }
        let names = try each("map-name") { $0 }
        let shared = values["scale"]?.count == 1
        let scales =
            shared
            ? Array(repeating: try scale(try required("scale")), count: paths.count) : try each("scale", scale)
        let points = try (values["georeference"] ?? []).map(controlPoint)
        if points.count == 1 {
            throw usage("one --georeference doesn't give the direction of the plan; give two or more")
        }
        return paths.indices.map { index in
            PlanOption(
                path: paths[index], scale: scales[index], level: levels.isEmpty ? index : levels[index],
                name: names.isEmpty ? nil : names[index], controlPoints: points)
        }
    }

    private func usage(_ message: String) -> UsageError { UsageError(message: message, command: syntax.name) }

    private func scale(_ text: String) throws(UsageError) -> PlanScale {
        guard let (points, meters) = numbers(text), points.count == 4, meters.count == 1 else {
            throw usage(
                "--scale must be X1,Y1,X2,Y2=METRES, such as \"30,30,1050,30=34\", not '\(text)'")
        }
        do throws(PlanDrawingError) {
            return try PlanScale(
                from: PixelPoint(x: points[0], y: points[1]), to: PixelPoint(x: points[2], y: points[3]),
                meters: meters[0])
        } catch { throw usage("--scale \(text): \(error)") }
    }

    private func controlPoint(_ text: String) throws(UsageError) -> PlanDrawing.ControlPoint {
        guard let (point, place) = numbers(text), point.count == 2, place.count == 2,
            abs(place[0]) <= 90, abs(place[1]) <= 180
        else {
            throw usage(
                "--georeference must be X,Y=LATITUDE,LONGITUDE, such as \"30,30=50.11103,8.68193\", not '\(text)'")
        }
        return PlanDrawing.ControlPoint(
            pixel: PixelPoint(x: point[0], y: point[1]),
            coordinate: Coordinate(latitude: place[0], longitude: place[1]))
    }

    /// Returns the numbers on both sides of an equals sign; nil if one isn't a finite number.
    private func numbers(_ text: String) -> ([Double], [Double])? {
        let sides = text.split(separator: "=", omittingEmptySubsequences: false)
        guard sides.count == 2 else { return nil }
        let numbers = sides.map { side in
            side.split(separator: ",", omittingEmptySubsequences: false).map { part in
                Double(part.drop { $0 == " " }).flatMap { $0.isFinite ? $0 : nil }
            }
        }
        guard !numbers.joined().contains(nil) else { return nil }
        return (numbers[0].compactMap(\.self), numbers[1].compactMap(\.self))
    }
}

/// A classifier of the package.
enum ClassifierKind: String, CaseIterable, Sendable {
    case naiveBayes, nearestNeighbor, adaptive

    /// Whether earlier scans affect the room of a scan.
    var hasMemory: Bool { self == .adaptive }

    /// Returns a classifier trained with these data.
    ///
    /// - Parameter remembersRooms: whether earlier scans affect the room, if the classifier supports this.
    func classifier(_ training: RoomTrainingSet, remembersRooms: Bool = true) -> any Classifier {
        switch self {
        case .naiveBayes: return NaiveBayesClassifier(training)
        case .nearestNeighbor: return NearestNeighborClassifier(training)
        case .adaptive:
            var settings = AdaptiveClassifier.Settings()
            settings.remembersRooms = remembersRooms
            return AdaptiveClassifier(training, settings: settings)
        }
    }
}

/// The options of the rule that accepts a change of room.
enum RoomRuleOptions {
    static let options = [
        CommandOption(
            name: "rule", argument: "RULE",
            help: RoomChangeRule.allCases.map(\.rawValue).joined(separator: ", ")
                + " (default \(RoomSettings().changeRule.rawValue))",
            proposals: .words(of: RoomChangeRule.self)),
        CommandOption(
            name: "count", argument: "N",
            help: "number of estimates that the rule considers (default \(RoomSettings().changeCount))"),
    ]
}

extension ParsedArguments {
    /// The room settings with the given change rule.
    func roomSettings() throws(UsageError) -> RoomSettings {
        let standard = RoomSettings()
        let rule = try word("rule", of: RoomChangeRule.self) ?? standard.changeRule
        return RoomSettings(
            changeRule: rule, changeCount: try number("count", in: 1...100, else: standard.changeCount))
    }

    /// The value of an option, a case of an enumeration; nil if the option was not given.
    func word<Word: RawRepresentable<String> & CaseIterable>(
        _ option: String, of type: Word.Type
    ) throws(UsageError) -> Word? {
        guard let text = value(option) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError(message: "--\(option) must be one of \(words), not '\(text)'", command: syntax.name)
        }
        return word
    }
}

extension CommandOption {
    static let geofences = CommandOption(
        name: "geofences", argument: "FILE",
        help: "GeoJSON file with geofences to monitor, in addition to the packet's fences")
}

extension ParsedArguments {
    /// The geofences to monitor; nil if the option was not given.
    ///
    /// - Throws: `GeofenceFileError`, or `UsageError` if the path is empty.
    func geofences() throws -> GeofenceOption? {
        guard let file = value("geofences") else { return nil }
        guard !file.isEmpty else {
            throw UsageError(message: "--geofences must be the path of a GeoJSON file, not ''", command: syntax.name)
        }
        let path = try InputFile.keeping(file)
        return GeofenceOption(file: path, fences: try GeofenceFile.read(path))
    }
}

/// The geofences of a file.
struct GeofenceOption: Sendable {
    /// The path, as given on the command line.
    let file: String
    /// The file's geofences.
    let fences: [Geofence]

    /// Warns on standard error of geofences that can't be entered because they lie outside the venues' plans.
    func warn(of venues: [Venue]) {
        for remark in remarks(on: venues) { StandardError.line("\(file): \(remark)") }
    }

    /// A remark for each geofence that can't be entered, with the reason.
    func remarks(on venues: [Venue]) -> [String] {
        fences.compactMap { fence in reason(fence, venues).map { "geofence \"\(fence.id)\" can't be entered: \($0)" } }
    }

    private func reason(_ fence: Geofence, _ venues: [Venue]) -> String? {
        let own = venues.filter { fence.venueID == nil || fence.venueID == $0.id }
        guard !own.isEmpty else { return "unknown venue \(fence.venueID.map(String.init(describing:)) ?? "")" }
        let maps = own.flatMap { venue in
            venue.maps.filter { fence.mapID ?? $0.id == $0.id && fence.level ?? $0.level == $0.level }
                .map { (venue.id, $0) }
        }
        guard !maps.isEmpty else { return "no map has its mapId and level" }
        let areas = maps.compactMap { venue, map in
            fence.area(on: map, of: venue, try? map.geoTransform()).map { (map, $0) }
        }
        guard !areas.isEmpty else {
            return "its map has no georeference; add a center and bearing, or controlPoints, to venue.json"
        }
        guard !areas.contains(where: { map, area in area.touches(map) }) else { return nil }
        return "it lies outside the plan; coordinates must be [longitude, latitude]"
    }
}
