import Foundation
import IndoorLocalization
import IndoorLocalizationTesting
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
        /// The problems that a document would have in the packet; nothing is written.
        case check = "/api/v1/check"
        /// The expected errors of a document's beacons, and proposed beacons; nothing is written.
        case coverage = "/api/v1/coverage"
        /// A simulated walk through a document's venue; nothing is written.
        case walk = "/api/v1/walk"
        case plan = "/api/v1/plan"
        /// An image of the packet by its path, also one that the stored document doesn't name.
        case image = "/api/v1/image"
        /// Writes the image of a plan, or a radio map, into the packet.
        case planImage = "/api/v1/plan-image"
        case radioMap = "/api/v1/radio-map"
        case tile = "/api/v1/tile"
    }

    private let file: EditedVenueFile
    private let title: String
    private let plans: PacketPlans
    private let coverage: PageCalculation
    private let walk: PageCalculation

    /// - Parameters:
    ///   - title: the title of the page.
    ///   - coverage: the calculations of expected errors.
    ///   - walk: the calculations of walks.
    init(
        file: EditedVenueFile, title: String, coverage: PageCalculation = PageCalculation(),
        walk: PageCalculation = PageCalculation()
    ) {
        (self.file, self.title, self.coverage, self.walk) = (file, title, coverage, walk)
        plans = PacketPlans(PlanFiles(folder: file.folder))
    }

    func checkMethod(_ method: String, _ target: HTTPTarget) throws(HTTPProblem) {
        let allowed =
            switch Path(rawValue: target.path) {
            case .document: ["GET", "HEAD", "PUT"]
            case .check, .coverage, .walk: ["POST"]
            case .planImage, .radioMap: ["PUT"]
            default: ["GET", "HEAD"]
            }
        guard allowed.contains(method) else {
            let names = allowed.joined(separator: ", ")
            throw HTTPProblem(405, "The path accepts only \(names).", [HTTPHeader("Allow", names)])
        }
    }

    func largestBody(of target: HTTPTarget) -> Int {
        switch Path(rawValue: target.path) {
        case .document, .check, .coverage: EditedVenueFile.limit
        case .walk: EditedVenueFile.limit + InputLimits.standard.walk
        case .planImage: PacketUpload.Kind.planImage.limit
        case .radioMap: PacketUpload.Kind.radioMap.limit
        default: 0
        }
    }

    func endsWithClient(_ target: HTTPTarget) -> Bool {
        switch Path(rawValue: target.path) {
        case .coverage, .walk: true
        default: false
        }
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
        case .check:
            try request.allowOnly([])
            try request.requireJSON()
            guard let checked = await file.checkUnlessReplaced(request.body) else {
                throw HTTPProblem(
                    409, "A newer document is checked instead. Send the document again if it is still of use.")
            }
            return try .json(CheckAnswer(problems: checked.problems.map(ProblemAnswer.init)))
        case .coverage: return try await simulateCoverage(request)
        case .walk: return try await simulateWalk(request)
        case .image: return try await packetImage(request)
        case .planImage: return try await upload(request, .planImage)
        case .radioMap: return try await upload(request, .radioMap)
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
                title: title, isStored: await file.isStored, venueId: venues.first?.id, maps: venues.first?.maps ?? [],
                problems: checked.problems.map(ProblemAnswer.init),
                radioMaps: RadioMapFile.all(inFolder: file.folder).map { FileAnswer(path: $0.name, bytes: $0.size) }))
    }

    private func document(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        let edition = try await edition()
        return .file(edition.bytes, "application/json", tag: edition.revision.tag, for: request)
    }

    private func replace(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        try request.requireJSON()
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
            return try invalid(problems, consequence: "Nothing was saved.")
        case .saved(let revision, let warnings, let survey):
            let survey = survey.map { SavedAnswer.Survey(moved: $0.moved, removed: $0.removed) }
            return try answer(
                200, SavedAnswer(problems: warnings.map(ProblemAnswer.init), survey: survey),
                [HTTPHeader("ETag", revision.tag)])
        }
    }

    /// Returns the answer to a document with errors.
    private func invalid(_ problems: [VenueProblem], consequence: String) throws(HTTPProblem) -> HTTPResponse {
        let count = problems.count { $0.severity == .error }
        return try answer(
            422,
            InvalidAnswer(
                error: "The document has \(count == 1 ? "an error" : "\(count) errors"). \(consequence)",
                problems: problems.map(ProblemAnswer.init)))
    }

    private func answer(
        _ status: Int, _ content: some Encodable, _ headers: [HTTPHeader] = []
    ) throws(HTTPProblem) -> HTTPResponse {
        var response = try HTTPResponse.json(content)
        response.status = status
        response.headers += headers
        return response
    }

    // MARK: Simulations

    private func simulateCoverage(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        try request.allowOnly(["target", "beacons"])
        try request.requireJSON()
        let count = try request.integer("beacons", in: CoverageSimulation.counts) ?? 1
        let targets = CoverageSimulation.targets
        guard let target = Double(request.target.query["target"] ?? "3"), targets.contains(target) else {
            throw HTTPProblem(
                400, "The parameter 'target' must be a number of metres from \(targets.lowerBound) to 1000.")
        }
        let checked = await file.check(EditedVenueFile.Edition(request.body))
        guard let venue = checked.venue, checked.isUsable else {
            return try invalid(checked.problems, consequence: "Correct it before you simulate the coverage.")
        }
        let simulation = CoverageSimulation(venue: venue, target: target, count: count)
        return try await simulated(
            by: coverage, advice: "Propose fewer beacons, or divide the venue."
        ) { check throws(PageCalculation.End) in try simulation.result(check: check) }
    }

    private func simulateWalk(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        try request.allowOnly([])
        let asked = try request.decoded(WalkSimulation.Request.self, example: WalkSimulation.Request.example)
        let checked = await file.check(EditedVenueFile.Edition(Array(asked.document.utf8)))
        guard let venue = checked.venue, checked.isUsable else {
            return try invalid(checked.problems, consequence: "Correct it before you simulate a walk.")
        }
        let simulation: WalkSimulation
        do throws(SimulationError) {
            simulation = try WalkSimulation(venue: venue, walk: asked.walk, seed: asked.seed)
        } catch { throw HTTPProblem(422, "\(error)") }
        guard simulation.seconds <= WalkSimulation.longest else {
            throw HTTPProblem(
                422,
                "The walk lasts \(Int(simulation.seconds / 60)) minutes; the page simulates at most "
                    + "\(Int(WalkSimulation.longest / 60)). Shorten it, or export it for 'indoorloc simulate'.")
        }
        guard simulation.readings <= WalkSimulation.mostReadings else {
            throw HTTPProblem(
                422,
                "The walk has \(simulation.readings) readings; the page simulates at most \(WalkSimulation.mostReadings). "
                    + "Shorten it, increase its speed, or export it for 'indoorloc simulate'.")
        }
        return try await simulated(by: walk, advice: "Shorten the walk, or export it for 'indoorloc simulate'.") {
            check throws(PageCalculation.End) in try simulation.result(check: check)
        }
    }

    /// Returns the answer with the result of a calculation.
    ///
    /// - Parameter advice: what to do about a calculation that takes too long.
    private func simulated(
        by calculation: PageCalculation, advice: String,
        _ work:
            @escaping @Sendable (_ check: () throws(PageCalculation.End) -> Void) throws(PageCalculation.End) ->
            JSONText
    ) async throws(HTTPProblem) -> HTTPResponse {
        do throws(PageCalculation.End) {
            let json = try await calculation.run(work)
            return HTTPResponse(
                200, [HTTPResponse.type("application/json"), HTTPResponse.noStore], .bytes(Array(json.text.utf8)))
        } catch {
            switch error {
            case .replaced:
                throw HTTPProblem(409, "A newer simulation runs instead. Send the request again if it is still of use.")
            case .cancelled: throw HTTPProblem(503, "The client has left.")
            case .late(let limit):
                throw HTTPProblem(
                    503,
                    "The simulation takes more than \(limit.components.seconds) s of a processor, and was ended. \(advice)"
                )
            }
        }
    }

    // MARK: Files

    private func upload(_ request: HTTPRequest, _ kind: PacketUpload.Kind) async throws(HTTPProblem) -> HTTPResponse {
        try request.allowOnly(["name"])
        // An HTML form of another site can't send this type.
        guard request.headers["content-type"] == "application/octet-stream" else {
            throw HTTPProblem(415, "The header Content-Type must be application/octet-stream.")
        }
        guard let upload = PacketUpload(request.body, kind, named: request.target.query["name"] ?? "") else {
            throw HTTPProblem(422, kind.refusal)
        }
        do throws(FileSystemError) { try await file.write(upload) } catch {
            throw HTTPProblem(
                500,
                "\(upload.path) can't be written: \(error.reason). Check the folder, its permissions and the free space."
            )
        }
        return try answer(201, FileAnswer(path: upload.path, bytes: upload.bytes.count))
    }

    private func packetImage(_ request: HTTPRequest) async throws(HTTPProblem) -> HTTPResponse {
        try request.allowOnly(["path"])
        guard let path = request.target.query["path"], let image = await file.image(path) else {
            throw HTTPProblem(404, "The packet has no image at this path.")
        }
        return .file(image.bytes, image.mediaType, tag: HTTPResponse.tag(of: image.bytes), for: request)
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
    /// Whether the packet has a document; false for a new one.
    let isStored: Bool
    let venueId: Int?
    let maps: [LiveMapVenue.Map]
    let problems: [ProblemAnswer]
    /// The radio maps in the packet's folder, whether the document refers to them or not.
    let radioMaps: [FileAnswer]
}

/// A file of the packet.
private struct FileAnswer: Encodable {
    let path: String
    let bytes: Int
}

/// The answer to a document that was checked.
private struct CheckAnswer: Encodable {
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
