import FoundationEssentials
import IndoorVocabulary
import LiveMap
import TagTracking
import TextFormats

/// The paths of trained rooms, in a fleet without a floor plan.
extension TagRoutes {
    /// The largest body of a request in bytes.
    static let largestChange = 4_096

    /// The body of a request that trains a room.
    private struct TrainingRequest: Decodable {
        enum Action: String, Decodable {
            case start
            case finish
            case cancel
        }

        var action: Action
        var tag: String
        /// The room to start with.
        var room: String?
    }

    /// The body of a request that corrects the room of a tag.
    private struct CorrectionRequest: Decodable {
        var tag: String
        var room: String
    }

    /// The body of a request that removes a room.
    private struct RemovalRequest: Decodable {
        var room: String
    }

    private func desk() throws(HTTPProblem) -> RoomDesk {
        guard let rooms else { throw HTTPProblem(404, "This process has no trained rooms; 'track --rooms FILE' does.") }
        return rooms
    }

    func roomList() async throws(HTTPProblem) -> HTTPResponse { Self.json(Self.json(of: await (try desk()).status)) }

    func removeRoom(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let desk = try desk()
        let body = try request.decoded(RemovalRequest.self, example: #"{"room": "Kitchen"}"#)
        return try await changed(desk) { desk async throws(RoomDesk.Failure) in try await desk.remove(body.room) }
    }

    func train(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let desk = try desk()
        let example = #"{"action": "start", "tag": "AA:BB:CC:DD:EE:FF", "room": "Kitchen"}"#
        let body = try request.decoded(TrainingRequest.self, example: example)
        let tag = try tag(body.tag)
        switch body.action {
        case .start:
            guard let room = body.room else { throw HTTPProblem(400, "The member 'room' is missing.") }
            return try await changed(desk) { desk async throws(RoomDesk.Failure) in
                try await desk.start(room, with: tag)
            }
        case .finish:
            return try await changed(desk) { desk async throws(RoomDesk.Failure) in try await desk.finish(with: tag) }
        case .cancel:
            return try await changed(desk) { desk async throws(RoomDesk.Failure) in try await desk.cancel(with: tag) }
        }
    }

    func correct(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let desk = try desk()
        let body = try request.decoded(
            CorrectionRequest.self, example: #"{"tag": "AA:BB:CC:DD:EE:FF", "room": "Kitchen"}"#)
        let tag = try tag(body.tag)
        return try await changed(desk) { desk async throws(RoomDesk.Failure) in
            try await desk.correct(tag, to: body.room)
        }
    }

    /// Returns the tag of a request's body.
    func tag(_ text: String) throws(HTTPProblem) -> TagKey {
        guard let tag = TagKey(text) else { throw HTTPProblem(400, "The member 'tag' is empty.") }
        return tag
    }

    /// Returns the state of the training after a change.
    private func changed(
        _ desk: RoomDesk, _ change: @Sendable (RoomDesk) async throws(RoomDesk.Failure) -> Void
    ) async throws(HTTPProblem) -> HTTPResponse {
        do throws(RoomDesk.Failure) { try await change(desk) } catch {
            switch error {
            case .refused: throw HTTPProblem(409, "\(error)")
            case .unsaved: throw HTTPProblem(500, "\(error)")
            }
        }
        return Self.json(Self.json(of: await desk.status))
    }

    private static func json(of status: RoomDesk.Status) -> [UInt8] {
        JSONWriter.object { json in
            json.add("rooms", objects: status.rooms) { room, json in
                json.add("name", room.name)
                json.add("samples", room.samples)
                json.add("gateways", room.gateways)
                json.add("sufficient", room.isSufficient)
            }
            json.add("trainings", objects: status.trainings) { training, json in
                json.add("tag", training.tag.description)
                json.add("room", training.room)
                json.add("start", time: training.start)
                json.add("samples", training.samples)
                json.add("gateways", training.gateways)
            }
            json.add("neededSamples", RoomFleetMachine.neededSamples)
            json.add("gateways", objects: status.gateways) { gateway, json in
                json.add("name", gateway.name)
                json.add("trained", gateway.isTrained)
                json.add("lastMessage", time: gateway.latest)
            }
        }
    }
}
