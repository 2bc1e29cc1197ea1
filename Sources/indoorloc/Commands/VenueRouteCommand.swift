import IndoorLocalization
import VenuePackets

/// The command `venue route`: finds a route through a venue.
struct VenueRouteCommand: Command {
    static let syntax = CommandSyntax(
        name: "venue route", operands: "V", operandCount: 1...1, summary: "find a route through a venue",
        details: """
            Prints one line per leg of the route; with --json, prints one object with the legs and the vertices. Lengths
            are walking distances in metres, courses are in degrees clockwise from the plan's top. If several points of
            interest have the same name, the route leads to the one with the lowest cost. The exit status is 1 if there
            is no route; standard error has the reason.

            example: indoorloc venue route Fixtures/office --from 1,5,10 --to-poi Books --accessible
            """,
        options: [
            CommandOption(name: "from", argument: "MAP,X,Y", help: "start of the route, in metres on a map"),
            CommandOption(name: "to", argument: "MAP,X,Y", help: "end of the route"),
            CommandOption(
                name: "to-poi", argument: "NAME", help: "point of interest at the end of the route, instead of --to"),
            CommandOption(name: "accessible", help: "avoid stairs and escalators"),
            CommandOption(
                name: "algorithm", argument: "NAME", help: "astar or dijkstra (default astar)",
                proposals: .words(["astar", "dijkstra"])),
            CommandOption(name: "json", help: "print one JSON object instead of lines"),
        ])

    /// The end of the route.
    private enum Goal: Sendable {
        case place(RoutePoint)
        case pointOfInterest(String)
    }

    private let path: String
    private let start: RoutePoint
    private let goal: Goal
    private let options: RouteOptions
    private let isJSON: Bool

    init(_ arguments: ParsedArguments) throws {
        path = try arguments.input(operand: 0)
        start = try arguments.place("from", try arguments.required("from"))
        switch (arguments.value("to"), arguments.value("to-poi")) {
        case (let place?, nil): goal = .place(try arguments.place("to", place))
        case (nil, let name?): goal = .pointOfInterest(name)
        case (nil, nil): throw UsageError(message: "--to or --to-poi is missing", command: Self.syntax.name)
        default: throw UsageError(message: "--to and --to-poi can't be combined", command: Self.syntax.name)
        }
        var options = arguments.has("accessible") ? RouteOptions.accessible : RouteOptions()
        if let name = arguments.value("algorithm") {
            guard let algorithm = RouteAlgorithm(rawValue: name) else {
                let all = RouteAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError(message: "--algorithm must be one of \(all), not '\(name)'", command: Self.syntax.name)
            }
            options.algorithm = algorithm
        }
        self.options = options
        isJSON = arguments.has("json")
    }

    func run() throws {
        let venue = try VenuePacketReader().read(path).venue
        let (route, name) = try route(in: venue)
        let lines = isJSON ? [route.json.text] : RouteText(route: route, venue: venue, goal: name).lines
        try StandardOutput.write(lines: lines)
    }

    /// Returns the route, and the name of its goal if it has one.
    private func route(in venue: Venue) throws -> (Route, name: String?) {
        var planner = RoutePlanner(venue: venue)
        switch goal {
        case .place(let place):
            return (try planner.route(from: start, to: place, options), nil)
        case .pointOfInterest(let name):
            var best: Route?
            var failure: any Error = UnknownPlace(
                name: name, known: Set(venue.pointsOfInterest.map(\.name)).sorted(), path: path)
            for place in venue.pointsOfInterest where place.name == name {
                do {
                    let route = try planner.route(from: start, to: RoutePoint(place), options)
                    if route.cost < best?.cost ?? .infinity { best = route }
                } catch { failure = error }
            }
            guard let best else { throw failure }
            return (best, name)
        }
    }
}

/// The error of a point of interest that the venue doesn't have.
private struct UnknownPlace: Error, CustomStringConvertible {
    let name: String
    let known: [String]
    let path: String

    var description: String {
        let names = known.isEmpty ? "it has none" : "it has " + known.map { "'\($0)'" }.joined(separator: ", ")
        return "\(path) has no point of interest '\(name)'; \(names)"
    }
}

extension ParsedArguments {
    /// Reads a place, `MAP,X,Y`.
    fileprivate func place(_ option: String, _ text: String) throws(UsageError) -> RoutePoint {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count == 3, let map = Int(parts[0]), let x = Double(parts[1]), let y = Double(parts[2]),
            x.isFinite, y.isFinite
        else {
            throw UsageError(
                message: "--\(option) must be MAP,X,Y such as 1,5,10.5, not '\(text)'", command: syntax.name)
        }
        return RoutePoint(mapID: MapID(rawValue: map), point: MapPoint(x: x, y: y))
    }
}
