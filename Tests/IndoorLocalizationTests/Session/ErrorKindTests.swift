import IndoorLocalization
import IndoorLocalizationTesting
import XCTest

/// What programs can tell errors by: code, kind and status, beside the text for people.
final class ErrorKindTests: XCTestCase {
    private struct Plain: Error {}

    private struct Classified: ClassifiedError {
        let kind: LocalizationError.Kind
        let status: LocalizationError.Status?
    }

    /// The error with which a session ends whose source fails so.
    private func told(of failure: any Error) async throws -> LocalizationError {
        let stage = LocalizerStage()
        let errors = stage.localizer.errors
        await stage.localizer.start()
        try await stage.reach("searchVenue")
        stage.source.fail(failure)
        return try await Bounded.first(1, of: errors)[0]
    }

    func testASourcesErrorKeepsItsKindAndItsStatus() async throws {
        let refused = try await told(of: Classified(kind: .permissionDenied, status: .system(13)))
        XCTAssertEqual(refused.code, .critical)
        XCTAssertEqual(refused.kind, .permissionDenied)
        XCTAssertEqual(refused.systemErrorNumber, 13)
        XCTAssertNil(refused.httpStatus)
        let answered = try await told(of: Classified(kind: .serviceUnavailable, status: .http(503)))
        XCTAssertEqual(answered.kind, .serviceUnavailable)
        XCTAssertEqual(answered.httpStatus, 503)
        XCTAssertNil(answered.systemErrorNumber)
        let plain = try await told(of: Plain())
        XCTAssertEqual(plain.kind, .unknown)
        XCTAssertNil(plain.status)
        let cancelled = try await told(of: CancellationError())
        XCTAssertEqual(cancelled.kind, .cancelled)
    }

    func testAnErrorWithoutAKindHasTheKindOfItsCode() {
        let kinds = LocalizationError.Code.allCases.map { LocalizationError(code: $0, message: "").kind }
        XCTAssertEqual(kinds, [.unknown, .serviceUnavailable, .invalidCredentials, .unknown])
    }

    /// One kind for each of the codes that can happen here.
    func testTheStatusOfAnAnswerDeterminesTheKind() {
        let kinds: [(ClosedRange<Int>, LocalizationError.Kind)] = [
            (400...400, .badRequest), (401...401, .invalidCredentials), (402...402, .badRequest),
            (403...403, .invalidCredentials), (404...404, .contentUnavailable), (405...406, .badRequest),
            (407...407, .proxyRefused), (408...408, .timedOut), (409...409, .badRequest),
            (410...410, .contentUnavailable), (411...428, .badRequest), (429...429, .serviceUnavailable),
            (430...499, .badRequest), (500...500, .serviceUnavailable), (501...501, .notSupported),
            (502...503, .serviceUnavailable), (504...504, .timedOut), (505...505, .notSupported),
            (506...599, .serviceUnavailable), (201...399, .badResponse),
        ]
        for (statuses, kind) in kinds {
            for status in statuses { XCTAssertEqual(LocalizationError.Kind(httpStatus: status), kind, "\(status)") }
        }
    }

    func testErrorsOfFloorPlansHaveTheirKinds() {
        let inner = LocalizationError(code: .network, message: "", kind: .timedOut, status: .http(504))
        let errors: [(FloorPlanError, LocalizationError.Kind)] = [
            (.cancelled, .cancelled), (.unknownMap(7, 1), .mapNotFound), (.noImage(7), .contentUnavailable),
            (.failed(inner), .timedOut),
        ]
        for (error, kind) in errors { XCTAssertEqual(error.kind, kind, "\(error)") }
        XCTAssertEqual(FloorPlanError.failed(inner).status, .http(504))
        XCTAssertNil(FloorPlanError.cancelled.status)
    }

    func testAFloorPlanLocalizerReportsWhetherTheVenueOrTheMapIsMissing() async throws {
        for (plan, kind) in [
            (FloorPlan(venueID: 9, map: SessionStage.office.maps[0]), LocalizationError.Kind.contentUnavailable),
            (FloorPlan(venueID: 2, map: SessionStage.office.maps[0]), .mapNotFound),
        ] {
            let positioner = FloorPlanLocalizer(
                on: plan, source: ScriptedSource(), venues: VenueLibrary([SessionStage.office, SessionStage.shop]),
                clock: ManualClock())
            let states = positioner.states
            await positioner.prepare()
            let seen = try await Bounded.elements(of: states, until: "the error") { $0.error != nil }
            XCTAssertEqual(seen.last?.error?.kind, kind)
        }
    }

    func testErrorsOfASessionsInputsHaveTheirKinds() async throws {
        var settings = LocalizationSettings()
        settings.areaDwell = .seconds(-1)
        let stage = LocalizerStage(ScriptedSource(), settings)
        let errors = stage.localizer.errors
        await stage.localizer.start()
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.kind, .settings)
        XCTAssertEqual(LocalizationError.unknownBeacons([]).kind, .unknownBeacons)
        XCTAssertEqual(LocalizationError.instantsStandStill(at: .zero).kind, .sampling)
    }

    func testARadioThatStopsReceivingIsASensorError() async throws {
        let stage = LocalizerStage()
        let errors = stage.localizer.errors
        try await stage.run()
        stage.source.send(ScannerStage.radio(.poweredOff, at: LocalizerStage.beginning + 6))
        let error = try await Bounded.first(1, of: errors)[0]
        XCTAssertEqual(error.code, .generic)
        XCTAssertEqual(error.kind, .sensorFailed)
    }

    func testErrorsOfRoutesHaveTheirKinds() throws {
        var planner = RoutePlanner(venue: RouteStage.twoFloors)
        XCTAssertThrowsError(try planner.route(from: RouteStage.at(7, 0, 0), to: RouteStage.at(1, 0, 10))) { error in
            XCTAssertEqual((error as? RouteError)?.kind, .mapNotFound)
        }
        var empty = RoutePlanner(venue: SessionStage.office)
        XCTAssertThrowsError(try empty.route(from: RouteStage.at(10, 1, 1), to: RouteStage.at(10, 2, 2))) { error in
            XCTAssertEqual((error as? RouteError)?.kind, .contentUnavailable)
        }
    }
}
