import IndoorVocabulary
import LiveMap
import TagTracking
import TextFormats

/// The answers about the past. Each is limited, and is read over a connection of its own.
extension TagRoutes {
    /// The maximum number of positions in a file.
    package static let mostExported = 100_000
    /// The maximum number of parts of an activity, and the number by default.
    private static let (mostParts, usualParts) = (1_000, 120)
    /// The parameters that select visits and positions.
    static let historyFilters = ["room", "tag", "from", "to"]

    private func historyQuery(_ request: HTTPRequest) throws(HTTPProblem) -> TagHistoryQuery {
        func time(_ name: String) throws(HTTPProblem) -> Instant? {
            guard let text = request.target.query[name] else { return nil }
            guard let time = TimeText.time(text.utf8.span) else {
                throw HTTPProblem(400, "The parameter '\(name)' must be a time such as 2026-11-28T10:00:00Z.")
            }
            return Instant(nanoseconds: time.nanoseconds)
        }
        let end = try time("to") ?? FleetClock.wallTime
        var query = TagHistoryQuery(
            room: request.target.query["room"], tag: request.target.query["tag"],
            from: try time("from") ?? end.advanced(by: .seconds(-86_400)), to: end)
        query.limit = try request.integer("limit", in: 1...TagQuery.mostTags) ?? TagQuery.usualTags
        return query
    }

    /// Returns the result of a query of the history.
    private func queried<Result: Sendable>(
        _ request: HTTPRequest,
        _ ask: @Sendable (TagHistoryReader, TagHistoryQuery) async throws(TagHistoryError) -> Result
    ) async throws(HTTPProblem) -> Result {
        let query = try historyQuery(request)
        guard let history else {
            throw HTTPProblem(404, "This process stores no history; 'track --history FILE' does.")
        }
        // The file lacks the outputs of the last second.
        await history.flush()
        do throws(TagHistoryError) { return try await ask(history.reader, query) } catch {
            throw HTTPProblem(503, "The history can't be read: \(error)")
        }
    }

    /// Returns the parts of the parameter `after`, which is the member `next` of an answer; nil without the parameter.
    private func place(_ request: HTTPRequest, parts: Int) throws(HTTPProblem) -> [Substring]? {
        guard let text = request.target.query["after"] else { return nil }
        let found = text.split(separator: "/", maxSplits: parts - 1, omittingEmptySubsequences: false)
        guard found.count == parts else { throw Self.invalidPlace }
        return found
    }

    private static let invalidPlace = HTTPProblem(400, "The parameter 'after' must be the member 'next' of an answer.")

    func visits(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        var last: TagVisit.Place?
        if let parts = try place(request, parts: 3) {
            guard let time = TimeText.time(parts[0].utf8.span), let id = Int64(parts[1]) else {
                throw Self.invalidPlace
            }
            last = TagVisit.Place(start: Instant(nanoseconds: time.nanoseconds), tag: String(parts[2]), id: id)
        }
        let (visits, limit) = try await queried(request) { [last] reader, query async throws(TagHistoryError) in
            (try await reader.visits(query, after: last), query.limit)
        }
        return Self.json(
            JSONWriter.object { json in
                json.add("visits", objects: visits) { visit, json in
                    json.add("tag", visit.tag)
                    json.add("name", visit.name)
                    json.add("room", visit.room)
                    json.add("mapId", visit.mapID.rawValue)
                    json.add("start", time: visit.start)
                    json.add("end", time: visit.end)
                    json.add("open", visit.isOpen)
                }
                if visits.count == limit, let last = visits.last {
                    json.add("next", "\(CivilTime(last.start).text)/\(last.id)/\(last.tag)")
                }
            })
    }

    func dwells(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        var last: TagDwell.Place?
        if let parts = try place(request, parts: 2) {
            guard let id = Int64(parts[0]) else { throw Self.invalidPlace }
            last = TagDwell.Place(room: String(parts[1]), tagID: id)
        }
        let (dwells, limit) = try await queried(request) { [last] reader, query async throws(TagHistoryError) in
            (try await reader.dwells(query, after: last), query.limit)
        }
        return Self.json(
            JSONWriter.object { json in
                json.add("rooms", objects: dwells) { dwell, json in
                    json.add("room", dwell.room)
                    json.add("tag", dwell.tag)
                    json.add("name", dwell.name)
                    json.add("visits", dwell.visits)
                    json.add("seconds", dwell.time.seconds, decimals: 3)
                }
                if dwells.count == limit, let last = dwells.last { json.add("next", "\(last.tagID)/\(last.room)") }
            })
    }

    func activity(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let parts = try request.integer("parts", in: 1...Self.mostParts) ?? Self.usualParts
        let activity = try await queried(request) { reader, query async throws(TagHistoryError) in
            try await reader.activity(query, parts: parts)
        }
        return Self.json(
            JSONWriter.object { json in
                json.add("positions", activity.positions)
                if let first = activity.first { json.add("first", time: first) }
                if let last = activity.last { json.add("last", time: last) }
                json.name("tags")
                json.beginArray()
                for count in activity.tags { json.value(count) }
                json.endArray()
            })
    }

    func positions(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let step = try request.integer("step", in: 1...86_400).map { Duration.seconds($0) }
        var last: (time: Instant, tag: String)?
        if let parts = try place(request, parts: 2) {
            guard let time = TimeText.time(parts[0].utf8.span) else { throw Self.invalidPlace }
            last = (Instant(nanoseconds: time.nanoseconds), String(parts[1]))
        }
        let (positions, limit) = try await queried(request) { [last] reader, query async throws(TagHistoryError) in
            (try await reader.positions(query, after: last, each: step), query.limit)
        }
        return Self.json(
            JSONWriter.object { json in
                json.add("positions", objects: positions) { $0.writeMembers(to: &$1) }
                if positions.count == limit, let last = positions.last {
                    json.add("next", "\(CivilTime(last.instant).text)/\(last.tag)")
                }
            })
    }

    func export(_ request: HTTPRequest, as format: HistoryExport.Format) async throws(HTTPProblem) -> HTTPResponse {
        let positions = try await queried(request) { reader, query async throws(TagHistoryError) in
            var query = query
            query.limit = Self.mostExported + 1
            return try await reader.positions(query)
        }
        guard positions.count <= Self.mostExported else {
            throw HTTPProblem(
                400,
                "The time has more than \(Self.mostExported) positions; choose a shorter one, or use "
                    + "'indoorloc history export'.")
        }
        let (type, name) = format == .csv ? ("text/csv; charset=utf-8", "csv") : ("application/geo+json", "geojson")
        return HTTPResponse(
            200,
            [
                HTTPResponse.type(type), HTTPResponse.noStore,
                HTTPHeader("Content-Disposition", "attachment; filename=\"history.\(name)\""),
            ], .bytes(HistoryExport.document(of: positions, as: format)))
    }
}
