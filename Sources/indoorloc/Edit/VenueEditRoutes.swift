import IndoorLocalization
import LiveMap
import VenueEditing
import VenuePackets

/// The paths of the page that edits a venue.
struct VenueEditRoutes: HTTPRoutes {
    /// The paths beside the page's files.
    private enum Path: String {
        /// The plans' images, and the problems of the document.
        case overview = "/api/v1/overview"
        /// The content of `venue.json`, to read and to replace.
        case document = "/api/v1/document"
        case plan = "/api/v1/plan"
        case tile = "/api/v1/tile"
    }

    private let file: EditedVenueFile
    private let title: String
    private let plans: PacketPlans

    /// - Parameter title: the title of the page.
    init(file: EditedVenueFile, title: String) {
        (self.file, self.title) = (file, title)
        plans = PacketPlans(PlanFiles(folder: file.folder))
    }

    func checkMethod(_ method: String, _ target: HTTPTarget) throws(HTTPProblem) {
        let allowed = target.path == Path.document.rawValue ? ["GET", "HEAD", "PUT"] : ["GET", "HEAD"]
        guard allowed.contains(method) else {
            let names = allowed.joined(separator: ", ")
            throw HTTPProblem(405, "The path accepts only \(names).", [HTTPHeader("Allow", names)])
        }
    }

    func largestBody(of target: HTTPTarget) -> Int {
        target.path == Path.document.rawValue ? EditedVenueFile.limit : 0
    }

    func response(to request: HTTPRequest) async -> HTTPResponse {
        do throws(HTTPProblem) { return try await fulfilled(request) } catch { return HTTPResponse(error) }
    }

    private func fulfilled(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let path = Path(rawValue: request.target.path)
        switch path {
        case .overview:
            try request.allowOnly([])
            return try await overview()
        case .document:
            try request.allowOnly([])
            return request.method == "PUT" ? try await replace(request) : try await document(request)
        case .plan, .tile: return try await image(request, isTile: path == .tile)
        case nil:
            try request.allowOnly(["token"])
            let name = request.target.path == "/" ? "edit.html" : String(request.target.path.dropFirst())
            return try HTTPResponse.pageFile(name, for: request)
        }
    }

    // MARK: The document

    private func edition() async throws(HTTPProblem) -> EditedVenueFile.Edition {
        do throws(BoundedFileError) { return try await file.edition() } catch { throw Self.problem(error) }
    }

    private static func problem(_ error: BoundedFileError) -> HTTPProblem {
        HTTPProblem(500, "\(EditedVenueFile.name) \(error)")
    }

    private func overview() async throws(HTTPProblem) -> HTTPResponse {
        let checked = await file.check(try await edition())
        var venues: [LiveMapVenue] = []
        if let venue = checked.venue { venues = await LiveMapVenues(list: [venue], plans: plans).descriptions() }
        return try .json(
            OverviewAnswer(
                title: title, venueId: venues.first?.id, maps: venues.first?.maps ?? [],
                problems: checked.problems.map(ProblemAnswer.init)))
    }

    private func document(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let edition = try await edition()
        return .file(edition.bytes, "application/json", tag: edition.revision.tag, for: request)
    }

    private func replace(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        // An HTML form of another site can't send this type.
        guard request.headers["content-type"]?.split(separator: ";").first?.lowercased() == "application/json" else {
            throw HTTPProblem(415, "The header Content-Type must be application/json.")
        }
        let outcome: EditedVenueFile.Outcome
        do throws(FileSystemError) {
            outcome = try await file.save(request.body, SaveCondition(header: request.headers["if-match"]))
        } catch {
            throw HTTPProblem(
                500,
                "\(EditedVenueFile.name) can't be written: \(error.reason). The file is unchanged. Check the folder, its "
                    + "permissions and the free space.")
        }
        switch outcome {
        case .refused(.unconditional, _):
            throw HTTPProblem(428, "The header If-Match is missing: send the ETag of the document that you changed.")
        case .refused(.changed, let current):
            throw HTTPProblem(
                412, "Another program has changed \(EditedVenueFile.name) since you opened it. Nothing was saved.",
                current.map { [HTTPHeader("ETag", $0.tag)] } ?? [])
        case .invalid(let problems):
            let count = problems.count { $0.severity == .error }
            return try answer(
                422,
                InvalidAnswer(
                    error: "The document has \(count == 1 ? "an error" : "\(count) errors"). Nothing was saved.",
                    problems: problems.map(ProblemAnswer.init)))
        case .saved(let revision, let warnings, let survey):
            let survey = survey.map { SavedAnswer.Survey(moved: $0.moved, removed: $0.removed) }
            return try answer(
                200, SavedAnswer(problems: warnings.map(ProblemAnswer.init), survey: survey),
                [HTTPHeader("ETag", revision.tag)])
        }
    }

    private func answer(
        _ status: Int, _ content: some Encodable, _ headers: [HTTPHeader] = []
    ) throws(HTTPProblem) -> HTTPResponse {
        var response = try HTTPResponse.json(content)
        response.status = status
        response.headers += headers
        return response
    }

    // MARK: Plans

    private func image(_ request: HTTPRequest, isTile: Bool) async throws(HTTPProblem) -> HTTPResponse {
        try request.allowOnly(isTile ? ["venue", "map", "level", "column", "row"] : ["venue", "map"])
        let known: Venue?
        do throws(BoundedFileError) { known = try await file.shownVenue() } catch { throw Self.problem(error) }
        let venues = LiveMapVenues(list: known.map { [$0] } ?? [], plans: plans)
        return try await .planImage(
            request, isTile: isTile, plan: venues.plan(venue:map:), tile: venues.tile(venue:map:level:column:row:))
    }
}

/// The content of `/api/v1/overview`.
private struct OverviewAnswer: Encodable {
    let title: String
    let venueId: Int?
    let maps: [LiveMapVenue.Map]
    let problems: [ProblemAnswer]
}

/// The answer to a document that was saved.
private struct SavedAnswer: Encodable {
    /// The beacons whose place no longer agrees with the survey.
    struct Survey: Encodable {
        let moved: [String]
        let removed: [String]
    }

    let problems: [ProblemAnswer]
    let survey: Survey?
}

/// The answer to a document with errors.
private struct InvalidAnswer: Encodable {
    let error: String
    let problems: [ProblemAnswer]
}

/// A problem of a document.
private struct ProblemAnswer: Encodable {
    let severity: String
    let path: String
    let message: String

    init(_ problem: VenueProblem) {
        (severity, path, message) = (problem.severity.rawValue, problem.path, problem.message)
    }
}
