import IndoorVocabulary
import LiveMap
import TagTracking
import TextFormats
import VenueModel

/// The paths of surveys with tags.
extension TagRoutes {
    /// The body of a request that starts or ends a walk, or removes its latest mark.
    private struct WalkRequest: Decodable {
        enum Action: String, Decodable {
            case start
            case stop
            case undo
        }

        var action: Action
        var tag: String
    }

    /// The body of a request that marks a place.
    private struct MarkRequest: Decodable {
        var tag: String
        var mapId: Int
        var x: Double
        var y: Double
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

    private func surveyDesk() throws(HTTPProblem) -> SurveyDesk {
        guard let survey else { throw HTTPProblem(404, "This process records no surveys; 'track --survey DIR' does.") }
        return survey
    }

    func surveyStatus() async throws(HTTPProblem) -> HTTPResponse {
        await Self.status(of: try surveyDesk())
    }

    func learnedMap(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let desk = try surveyDesk()
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
        return await Self.status(of: desk)
    }

    func surveyGaps(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let desk = try surveyDesk()
        guard let number = try request.integer("map", in: .min ... .max) else {
            throw HTTPProblem(400, "The parameter 'map' is missing.")
        }
        guard let coverage = await desk.coverage(of: MapID(rawValue: number)) else {
            throw HTTPProblem(404, "The venue has no map \(number).")
        }
        return Self.json(
            TagJSON.object { json in
                json.add("distance", SurveyCoverage.distance, decimals: 1)
                TagJSON.write(coverage.gaps, as: "gaps", to: &json) { gap, json in
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
                TagJSON.write(coverage.unvisitedRooms, as: "unvisitedRooms", to: &json) { room, json in
                    json.add("name", room.name)
                    json.add("mapId", room.mapID.rawValue)
                }
            })
    }

    func walk(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let desk = try surveyDesk()
        let body = try request.decoded(
            WalkRequest.self, example: #"{"action": "start", "tag": "AA:BB:CC:DD:EE:FF"}"#)
        let tag = try tag(body.tag)
        return try await surveyed(desk) { desk async throws(SurveyDesk.Refusal) in
            switch body.action {
            case .start: try await desk.start(with: tag)
            case .stop: try await desk.stop(with: tag)
            case .undo: try await desk.undo(with: tag)
            }
        }
    }

    func mark(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let desk = try surveyDesk()
        let body = try request.decoded(
            MarkRequest.self, example: #"{"tag": "AA:BB:CC:DD:EE:FF", "mapId": 1, "x": 2.5, "y": 4, "delay": 0.2}"#)
        let tag = try tag(body.tag)
        guard (body.id?.utf8.count ?? 0) <= Self.longestMarkID else {
            throw HTTPProblem(400, "The member 'id' is longer than \(Self.longestMarkID) bytes.")
        }
        // A larger number would be no duration. The desk refuses a mark of the day before, too.
        let delay = Duration.seconds(min(max(0, body.delay ?? 0), 86_400))
        return try await surveyed(desk) { desk async throws(SurveyDesk.Refusal) in
            try await desk.mark(
                tag, at: MapPoint(x: body.x, y: body.y), on: MapID(rawValue: body.mapId), delay: delay,
                id: body.id)
        }
    }

    private func surveyed(
        _ desk: SurveyDesk, _ change: @Sendable (SurveyDesk) async throws(SurveyDesk.Refusal) -> Void
    ) async throws(HTTPProblem) -> HTTPResponse {
        do throws(SurveyDesk.Refusal) { try await change(desk) } catch {
            if case .unwritable = error { throw HTTPProblem(500, "\(error)") }
            throw HTTPProblem(409, "\(error)")
        }
        return await Self.status(of: desk)
    }

    private static func status(of desk: SurveyDesk) async -> HTTPResponse {
        let (walks, map) = (await desk.status, await desk.maps?.status)
        return json(json(of: walks, map))
    }

    private static func json(of walks: [SurveyDesk.Walk], _ map: SurveyMapDesk.Status?) -> [UInt8] {
        TagJSON.object { json in
            if let map { write(map, to: &json) }
            TagJSON.write(walks, as: "walks", to: &json) { walk, json in
                json.add("tag", walk.tag.description)
                json.add("file", walk.file)
                json.add("start", time: walk.start)
                json.add("running", walk.isRunning)
                json.add("readings", walk.readings)
                json.add("receivers", walk.receivers)
                json.add("problem", walk.problem)
                TagJSON.write(walk.marks, as: "marks", to: &json) { mark, json in
                    json.add("mapId", mark.mapID.rawValue)
                    json.add("x", mark.point.x, decimals: 2)
                    json.add("y", mark.point.y, decimals: 2)
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
