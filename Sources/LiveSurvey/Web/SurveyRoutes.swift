import IndoorVocabulary
import LiveMap
import TextFormats
import VenueModel

/// The paths of surveys.
package struct SurveyRoutes: Sendable {
    /// The paths, which are the same on all servers with surveys.
    package enum Path: String, CaseIterable, Sendable {
        case survey = "/api/v1/survey"
        case walks = "/api/v1/survey/walks"
        case marks = "/api/v1/survey/marks"
        case learnedMap = "/api/v1/survey/map"
        case gaps = "/api/v1/survey/gaps"

        /// Whether a request to the path changes walks or the radio map.
        package var isChange: Bool {
            switch self {
            case .walks, .marks, .learnedMap: true
            case .survey, .gaps: false
            }
        }

        /// The names of the parameters.
        package var parameters: [String] { self == .gaps ? ["map"] : [] }
    }

    /// The largest body of a change in bytes.
    package static let largestBody = 4_096

    private let desk: SurveyDesk
    private let hasTags: Bool

    /// Creates the paths of a desk.
    package init(_ desk: SurveyDesk) { (self.desk, hasTags) = (desk, desk.hasTags) }

    /// Returns the response to a request.
    ///
    /// - Throws: `HTTPProblem` with status 400 or 415 for an invalid request, 404 for what doesn't exist, 409 if the desk refuses
    ///   the change, and 500 if a file can't be written.
    package func response(to request: HTTPRequest, at path: Path) async throws(HTTPProblem) -> HTTPResponse {
        switch path {
        case .survey: await status()
        case .walks: try await walk(request)
        case .marks: try await mark(request)
        case .learnedMap: try await learnedMap(request)
        case .gaps: try await surveyGaps(request)
        }
    }

    /// The body of a request that starts or ends a walk, or removes its latest mark.
    private struct WalkRequest: Decodable {
        enum Action: String, Decodable {
            case start
            case stop
            case undo
        }

        var action: Action
        /// The tag; absent for this device.
        var tag: String?
    }

    /// The body of a request that marks a place of a plan, or a room.
    private struct MarkRequest: Decodable {
        var tag: String?
        var mapId: Int?
        var x: Double?
        var y: Double?
        /// The number of the room; absent for a place.
        var room: Int?
        /// The seconds since the person was there, measured by the device that sends the request.
        var delay: Double?
        /// Identifies the mark, which is sent again if no answer comes.
        var id: String?
    }

    /// The body of a request that learns, adopts or takes back a radio map.
    private struct MapRequest: Decodable {
        enum Action: String, Decodable {
            case learn
            case adopt
            case takeBack
        }

        var action: Action
    }

    /// The largest length of the identifier of a mark in bytes.
    private static let longestMarkID = 64

    private func learnedMap(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let body = try request.decoded(MapRequest.self, example: #"{"action": "adopt"}"#)
        guard let maps = desk.maps else { throw HTTPProblem(404, "This process learns no radio maps.") }
        do throws(SurveyMapDesk.Refusal) {
            switch body.action {
            case .learn: await maps.learn()
            case .adopt: try await maps.adopt()
            case .takeBack: try await maps.takeBack()
            }
        } catch {
            if case .packet(.isUnwritable) = error { throw HTTPProblem(500, "\(error)") }
            throw HTTPProblem(409, "\(error)")
        }
        return await status()
    }

    private func surveyGaps(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let number = try request.requiredInteger("map", in: .min ... .max)
        guard let coverage = await desk.coverage(of: MapID(rawValue: number)) else {
            throw HTTPProblem(404, "The venue has no map \(number).")
        }
        return .json(
            written: JSONWriter.object { json in
                json.add("distance", SurveyCoverage.distance, decimals: 1)
                json.add("gaps", objects: coverage.gaps) { gap, json in
                    json.add("area", gap.area, decimals: 1)
                    json.add("cellSize", gap.cellSize, decimals: 3)
                    json.name("cells")
                    json.beginArray()
                    for cell in gap.cells {
                        json.beginArray()
                        json.value(cell.x, decimals: 2)
                        json.value(cell.y, decimals: 2)
                        json.endArray()
                    }
                    json.endArray()
                }
                json.add("unvisitedRooms", objects: coverage.unvisitedRooms) { room, json in
                    json.add("name", room.name)
                    json.add("mapId", room.mapID.rawValue)
                }
            })
    }

    private func walk(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let example = hasTags ? #"{"action": "start", "tag": "AA:BB:CC:DD:EE:FF"}"# : #"{"action": "start"}"#
        let body = try request.decoded(WalkRequest.self, example: example)
        let carrier = try carrier(body.tag, example)
        return try await changed { desk async throws(SurveyDesk.Refusal) in
            switch body.action {
            case .start: try await desk.start(with: carrier)
            case .stop: try await desk.stop(with: carrier)
            case .undo: try await desk.undo(with: carrier)
            }
        }
    }

    private func mark(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let example =
            hasTags
            ? #"{"tag": "AA:BB:CC:DD:EE:FF", "mapId": 1, "x": 2.5, "y": 4, "delay": 0.2}"#
            : #"{"mapId": 1, "x": 2.5, "y": 4, "delay": 0.2}"#
        let body = try request.decoded(MarkRequest.self, example: example)
        let carrier = try carrier(body.tag, example)
        guard (body.id?.utf8.count ?? 0) <= Self.longestMarkID else {
            throw HTTPProblem(400, "The member 'id' is longer than \(Self.longestMarkID) bytes.")
        }
        // A larger number would be no duration. The desk refuses a mark of the day before, too.
        let delay = Duration.seconds(min(max(0, body.delay ?? 0), 86_400))
        switch (body.room, body.mapId, body.x, body.y) {
        case (let room?, nil, nil, nil):
            return try await changed { desk async throws(SurveyDesk.Refusal) in
                try await desk.mark(carrier, inRoom: room, delay: delay, id: body.id)
            }
        case (nil, let map?, let x?, let y?):
            return try await changed { desk async throws(SurveyDesk.Refusal) in
                try await desk.mark(
                    carrier, at: MapPoint(x: x, y: y), on: MapID(rawValue: map), delay: delay, id: body.id)
            }
        default: throw HTTPProblem(400, "Give either the members 'mapId', 'x' and 'y' or the member 'room'.")
        }
    }

    /// Returns what a request's member `tag` selects.
    private func carrier(_ tag: String?, _ example: String) throws(HTTPProblem) -> SurveyCarrier {
        guard let carrier = desk.carrier(named: tag) else {
            throw HTTPProblem(400, "The body must be an object such as \(example).")
        }
        return carrier
    }

    private func changed(
        _ change: @Sendable (SurveyDesk) async throws(SurveyDesk.Refusal) -> Void
    ) async throws(HTTPProblem) -> HTTPResponse {
        do throws(SurveyDesk.Refusal) { try await change(desk) } catch {
            if case .unwritable = error { throw HTTPProblem(500, "\(error)") }
            throw HTTPProblem(409, "\(error)")
        }
        return await status()
    }

    private func status() async -> HTTPResponse {
        let (walks, map) = (await desk.status, await desk.maps?.status)
        return .json(written: Self.json(of: walks, map))
    }

    private static func json(of walks: [SurveyDesk.Walk], _ map: SurveyMapDesk.Status?) -> [UInt8] {
        JSONWriter.object { json in
            if let map { write(map, to: &json) }
            json.add("walks", objects: walks) { walk, json in
                json.add("tag", walk.carrier.tag)
                json.add("file", walk.file)
                json.add("start", time: walk.start)
                json.add("running", walk.isRunning)
                json.add("readings", walk.readings)
                if walk.carrier == .device {
                    json.add("beacons", walk.beacons)
                } else {
                    json.add("receivers", walk.beacons)
                }
                json.add("problem", walk.problem)
                json.add("marks", objects: walk.marks) { mark, json in
                    guard let waypoint = mark.waypoint else { return }
                    json.add("mapId", waypoint.mapID.rawValue)
                    json.add("x", waypoint.point.x, decimals: 2)
                    json.add("y", waypoint.point.y, decimals: 2)
                    json.add("room", mark.room)
                }
            }
        }
    }

    private static func write(_ status: SurveyMapDesk.Status, to json: inout JSONWriter) {
        let machine = status.machine
        json.name("map")
        json.beginObject()
        json.add("edition", status.edition)
        if let previous = status.previous { json.add("previous", previous) }
        json.add("adopted", machine.isAdopted)
        json.add("changing", machine.isChanging)
        json.add("fewestWalks", status.fewestWalks)
        json.add("problem", machine.problem)
        if let progress = machine.progress {
            json.name("learning")
            json.beginObject()
            json.add("done", progress.done)
            json.add("steps", progress.steps)
            json.endObject()
        }
        if let figures = machine.figures {
            json.name("figures")
            json.beginObject()
            json.add("walks", figures.walks)
            json.add("seconds", figures.seconds, decimals: 0)
            json.add("judged", figures.judged)
            json.add("points", figures.points)
            for (name, errors) in [("before" as StaticString, figures.before), ("after", figures.after)] {
                guard let errors else { continue }
                json.name(name)
                json.beginObject()
                json.add("mean", errors.mean, decimals: 2)
                json.add("median", errors.median, decimals: 2)
                json.add("rightFloor", errors.rightFloor, decimals: 3)
                json.endObject()
            }
            json.endObject()
        }
        json.endObject()
    }
}
