import IndoorLocalization

/// A route in words, one leg per line.
struct RouteText {
    let route: Route
    let venue: Venue
    /// The name of the goal; nil if the goal has no name.
    let goal: String?

    var lines: [String] {
        let seconds = JSONText.number(route.duration.seconds, decimals: 0)
        var lines = ["\(metres(route.length)) to walk, about \(seconds) s"]
        for end in [route.start, route.goal] where end.crossesWall {
            lines.append(
                "note: a wall lies between \(place(end.place)) and the nearest path, \(metres(end.distance)) away")
        }
        let width = String(route.legs.count).count
        for (index, leg) in route.legs.enumerated() {
            let number = String(index + 1)
            lines.append(String(repeating: " ", count: width - number.count) + "\(number). \(line(leg))")
        }
        lines.append("arrive at " + (goal.map { "\($0), " } ?? "") + place(route.goal.place))
        return lines
    }

    private func line(_ leg: Route.Leg) -> String {
        guard let course = leg.course else {
            let action = leg.kind == .walk ? "walk" : "take the \(leg.kind.rawValue)"
            let length = leg.length >= 0.05 ? ", \(metres(leg.length))" : ""
            return "\(action) \(leg.turn?.phrase ?? "on") to \(name(of: leg.end.mapID))\(length)"
        }
        let action = leg.kind == .walk ? "walk" : "take the \(leg.kind.rawValue) for"
        let degrees = JSONText.number(course, decimals: 0)
        let turn = leg.turn.map { $0.phrase + ", " } ?? ""
        return "\(turn)\(action) \(metres(leg.length)) at \(degrees == "360" ? "0" : degrees) degrees"
            + " on \(name(of: leg.end.mapID))"
    }

    private func metres(_ value: Double) -> String { JSONText.number(value, decimals: 1) + " m" }

    private func name(of map: MapID) -> String { venue.map(map)?.name ?? "map \(map)" }

    private func place(_ place: RoutePoint) -> String {
        let numbers = [place.x, place.y].map { JSONText.number($0, decimals: 1) }.joined(separator: ", ")
        return "(\(numbers)) on \(name(of: place.mapID))"
    }
}

extension Route.Turn {
    /// The turn in words.
    fileprivate var phrase: String {
        switch self {
        case .straight: "straight on"
        case .slightLeft: "slightly left"
        case .slightRight: "slightly right"
        case .left: "left"
        case .right: "right"
        case .sharpLeft: "sharp left"
        case .sharpRight: "sharp right"
        case .around: "turn around"
        case .up: "up"
        case .down: "down"
        case .over: "over"
        }
    }

    /// The turn's name in JSON.
    fileprivate var name: String {
        switch self {
        case .straight: "straight"
        case .slightLeft: "slightLeft"
        case .slightRight: "slightRight"
        case .left: "left"
        case .right: "right"
        case .sharpLeft: "sharpLeft"
        case .sharpRight: "sharpRight"
        case .around: "around"
        case .up: "up"
        case .down: "down"
        case .over: "over"
        }
    }

    /// The level after the turn; nil if the level doesn't change.
    fileprivate var level: Int? {
        switch self {
        case .up(let level), .down(let level): level
        case .straight, .slightLeft, .slightRight, .left, .right, .sharpLeft, .sharpRight, .around, .over: nil
        }
    }
}

extension Route {
    /// The route as JSON: metres to the millimetre, degrees to a tenth.
    var json: JSONText {
        var json = JSONText()
        json.add("length", length, decimals: 3)
        json.add("effort", effort, decimals: 3)
        json.add("cost", cost, decimals: 3)
        json.add("seconds", duration.seconds, decimals: 1)
        json.add("start", start.json)
        json.add("goal", goal.json)
        json.add("vertices", vertices.map(\.json))
        json.add("legs", legs.map(\.json))
        return json
    }
}

extension Route.End {
    fileprivate var json: JSONText {
        var json = place.json
        json.add("foot", foot.json)
        json.add("distance", distance, decimals: 3)
        json.add("crossesWall", crossesWall)
        return json
    }
}

extension Route.Leg {
    fileprivate var json: JSONText {
        var json = JSONText()
        json.add("kind", kind.rawValue)
        json.add("turn", turn?.name)
        if let level = turn?.level { json.add("level", level) }
        json.add("begin", begin.json)
        json.add("end", end.json)
        json.add("length", length, decimals: 3)
        json.add("effort", effort, decimals: 3)
        json.add("course", course, decimals: 1)
        return json
    }
}

extension RoutePoint {
    fileprivate var json: JSONText {
        var json = JSONText()
        json.add("mapId", mapID.rawValue)
        json.add("x", x, decimals: 3)
        json.add("y", y, decimals: 3)
        return json
    }
}
