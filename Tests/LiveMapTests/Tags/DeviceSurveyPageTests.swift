import Foundation
import IndoorVocabulary
import LiveMap
import LiveSurvey
import ScanRecording
import VenueModel
import VenuePackets
import XCTest

/// A survey with the device that a session locates, on the live map in a browser of a telephone.
final class DeviceSurveyPageTests: BrowserTestCase {
    /// The walks of the survey on the ground floor.
    private static let walks: [[(Double, Double)]] = [
        [(2.5, 10), (6, 10), (6, 4), (7, 10), (7, 14), (11, 17), (7, 10), (13, 10)],
        [(13, 10), (13, 4), (13, 10), (17, 10), (17, 15), (17, 10), (21, 10), (21, 4)],
        [(21, 4), (21, 10), (24.5, 10), (24.5, 15), (24.5, 10), (27, 10), (31.5, 10), (31.5, 15)],
    ]
    /// The walk with which positions are compared.
    private static let track: [(Double, Double)] = [
        (3, 10), (7, 10), (7, 15), (7, 10), (17, 10), (17, 14), (17, 10), (24.5, 10), (24.5, 14), (24.5, 10),
        (31.5, 10),
        (31.5, 15),
    ]

    private func shown(_ stage: StagedDevice) throws -> BrowserPage {
        let page = try page()
        try page.setViewport(width: 390, height: 844, isTouch: true)
        try page.open(try surveyServer(stage).url)
        try ShownMap(page: page).waitUntilReady()
        try page.wait(until: "window.liveMap.state().survey?.coverage != null")
        return page
    }

    private func text(_ id: String, _ page: BrowserPage) throws -> String {
        try page.evaluate("document.querySelector('#\(id)').textContent")
    }

    private func press(_ id: String, _ page: BrowserPage) throws {
        try page.run("document.querySelector('#\(id)').click()")
    }

    private func tap(_ point: MapPoint, _ page: BrowserPage) throws {
        try page.run("document.querySelector('#stage').scrollIntoView()")
        let place: ShownMap.Point = try page.evaluate("window.liveMap.screenPoint(1, \(point.x), \(point.y))")
        try page.click(x: place.x, y: place.y)
    }

    private func marks(_ count: Int, _ page: BrowserPage) throws {
        try page.wait(
            until: """
                window.liveMap.state().survey.waiting === 0
                    && window.liveMap.state().survey.walks.find((one) => one.running)?.marks.length === \(count)
                """)
    }

    private func mean(_ errors: [Double]) -> Double { errors.reduce(0, +) / Double(max(1, errors.count)) }

    func testASurveyWithTheDeviceIsLearnedJudgedAdoptedAndTakenBack() throws {
        let stage = try stagedDevice()
        let before = try stage.walk(Self.track, seed: 100)
        let page = try shown(stage)
        try page.stopClock()
        XCTAssertTrue(try text("survey-note", page).hasPrefix("Carry the device that is located here."))
        XCTAssertTrue(try text("unvisited-list", page).contains("Kitchen"))
        for (number, points) in Self.walks.enumerated() {
            try page.wait(until: "!document.querySelector('#survey-start').hidden")
            try press("survey-start", page)
            try page.wait(until: "!document.querySelector('#survey-stop').hidden")
            XCTAssertTrue(try page.evaluate("window.liveMap.state().survey.showsGaps") as Bool)
            XCTAssertFalse(
                try page.evaluate("window.liveMap.state().following") as Bool, "the plan stays below the finger")
            var count = 0
            try stage.walk(points, seed: UInt64(number)) { point in
                try tap(point, page)
                count += 1
                try marks(count, page)
            }
            XCTAssertTrue(try text("survey-state", page).contains("beacons"))
            XCTAssertLessThanOrEqual(try page.evaluate("document.documentElement.scrollWidth") as Int, 390)
            try press("survey-stop", page)
            try page.wait(until: "document.querySelector('#survey-state').textContent.startsWith('\(number + 1) walk')")
        }
        // The way back of each walk, without the page.
        for (number, points) in Self.walks.enumerated() {
            try stage.survey(points.reversed(), seed: 10 + UInt64(number))
        }
        let status = try stage.waitForMap()
        let figures = try XCTUnwrap(status.machine.figures, status.machine.problem ?? "")
        let (old, new) = (try XCTUnwrap(figures.before), try XCTUnwrap(figures.after))
        print("left out: \(old) -> \(new), \(figures)")
        XCTAssertEqual(figures.walks, 6)
        XCTAssertGreaterThan(figures.points, 100)
        XCTAssertLessThan(new.mean, 0.9 * old.mean)
        try page.wait(until: "window.liveMap.state().survey.map?.figures?.points === \(figures.points)")
        try page.wait(until: "document.querySelector('#map-errors').textContent.startsWith('Mean error')")

        let runs = try stage.ask { await stage.localizer.activityCounts.passes }
        try press("map-adopt", page)
        try page.wait(
            until: "window.liveMap.state().survey.map.adopted && !window.liveMap.state().survey.map.changing")
        XCTAssertEqual(try text("map-takeBack", page), "Take back edition 1")
        XCTAssertTrue(try text("map-edition", page).hasPrefix("The session uses edition 2"))
        let venue = try VenuePacketReader().read(stage.packet).venue
        XCTAssertEqual(venue.version, 2)
        XCTAssertNotNil(venue.radioMap)
        let after = try stage.walk(Self.track, seed: 100)
        XCTAssertEqual(try stage.ask { await stage.localizer.state.venue?.version }, 2)
        XCTAssertEqual(try stage.ask { await stage.localizer.activityCounts.passes }, runs, "the radio scans on")
        print("track: \(mean(before)) m -> \(mean(after)) m, \(before.count) and \(after.count) positions")
        XCTAssertGreaterThan(before.count, 40)
        XCTAssertGreaterThan(after.count, before.count - 10, "the device is located on")
        XCTAssertLessThan(mean(after), 0.9 * mean(before))

        try press("map-takeBack", page)
        try page.wait(
            until: "window.liveMap.state().survey.map.edition === 1 && !window.liveMap.state().survey.map.changing")
        XCTAssertEqual(try VenuePacketReader().read(stage.packet).venue, stage.venue)
        try stage.walk([(3, 10), (7, 10)], seed: 100)
        XCTAssertEqual(try stage.ask { await stage.localizer.state.venue?.version }, 1)
        XCTAssertFalse(try page.evaluate("document.querySelector('#map-adopt').hidden") as Bool)
        XCTAssertEqual(page.problems, [])
    }

    func testTapsAndADragBecomeTheGroundTruthOfARecording() throws {
        let stage = try stagedDevice()
        let page = try shown(stage)
        // The time of the survey stands still between the taps: a late answer would move the next mark into the past.
        try page.stopClock()
        // Without a walk, a tap marks nothing.
        try tap(MapPoint(x: 6, y: 10), page)
        try press("survey-start", page)
        try page.wait(until: "!document.querySelector('#survey-stop').hidden")
        var points: [MapPoint] = []
        try stage.walk([(6, 10), (13, 10), (20, 10)], seed: 1) { point in
            try tap(point, page)
            points.append(point)
            try marks(points.count, page)
        }
        try press("survey-undo", page)
        try marks(2, page)
        try page.run("document.querySelector('#stage').scrollIntoView()")
        let start: ShownMap.Point = try page.evaluate("window.liveMap.screenPoint(1, 20, 10)")
        let end: ShownMap.Point = try page.evaluate("window.liveMap.screenPoint(1, 28, 10)")
        try page.drag(from: (start.x, start.y), to: (end.x, end.y))
        // The page shows a mark before the server has it.
        try page.wait(
            until: """
                window.liveMap.state().survey.waiting === 0
                    && window.liveMap.state().survey.walks.find((one) => one.running)?.marks.length > 2
                """)
        XCTAssertEqual(
            try page.evaluate("window.liveMap.screenPoint(1, 20, 10)") as ShownMap.Point, start, "the plan stays")
        try press("survey-stop", page)
        try page.wait(until: "document.querySelector('#survey-state').textContent.startsWith('1 walk recorded')")
        let names = try FileManager.default.contentsOfDirectory(atPath: stage.folder)
        XCTAssertEqual(names.count, 1)
        let recording = try SurveyRecording(path: stage.folder + "/" + (try XCTUnwrap(names.first)))
        XCTAssertGreaterThanOrEqual(recording.waypoints.count, 3)
        for (mark, x) in zip(recording.waypoints, [6.0, 13]) {
            XCTAssertEqual(mark.point.x, x, accuracy: 0.2)
            XCTAssertEqual(mark.point.y, 10, accuracy: 0.2)
        }
        XCTAssertTrue(
            recording.sightings.allSatisfy { sighting in
                stage.venue.beacons.contains { $0.identity == sighting.beacon }
            })
        XCTAssertGreaterThan(recording.sightings.count, 100)
        XCTAssertEqual(page.problems, [])
    }

    func testAWalkIsMarkedByTheNamesOfRoomsAlone() throws {
        let stage = try stagedDevice()
        let page = try shown(stage)
        try page.stopClock()
        let form = "document.querySelector('#survey-room')"
        XCTAssertTrue(try page.evaluate("\(form).hidden") as Bool, "no walk runs")
        try press("survey-start", page)
        try page.wait(until: "!\(form).hidden")
        XCTAssertEqual(
            try page.evaluate("[...\(form).querySelectorAll('optgroup')].map((one) => one.label)") as [String],
            ["Ground floor", "Upper floor"])
        XCTAssertEqual(
            try page.evaluate("\(form).querySelector('optgroup').children[0].textContent") as String, "Cafe")
        XCTAssertTrue(try text("survey-room", page).contains("stand in its middle"))
        func iAmHere() throws { try page.run("\(form).querySelector('button').click()") }
        func choose(_ room: String) throws {
            try page.run(
                """
                const select = document.querySelector("#survey-room-name");
                select.value = [...select.options].find((one) => one.textContent === "\(room)").value;
                """)
        }
        // Without a choice, the button marks nothing.
        try iAmHere()
        XCTAssertEqual(try page.evaluate("window.liveMap.state().survey.waiting") as Int, 0)
        var rooms = ["Lobby", "Workshop", "Workshop", "Cafe"][...]
        var count = 0
        try stage.walk([(5, 8.75), (13, 4.75), (13, 4.5), (7, 15.25)], seed: 1) { _ in
            try choose(try XCTUnwrap(rooms.popFirst()))
            try iAmHere()
            count += 1
            try marks(count, page)
        }
        let state = try text("survey-state", page)
        XCTAssertTrue(state.contains("The last one is in Cafe."), state)
        try page.wait(until: "!document.querySelector('#unvisited-list').textContent.includes('Cafe')")
        XCTAssertEqual(try page.evaluate("window.liveMap.state().mapId") as Int, 1)
        try choose("Lounge")
        try iAmHere()
        try marks(count + 1, page)
        XCTAssertEqual(try page.evaluate("window.liveMap.state().mapId") as Int, 2, "the floor of the room")
        XCTAssertLessThanOrEqual(try page.evaluate("document.documentElement.scrollWidth") as Int, 390)
        try press("survey-undo", page)
        try marks(count, page)
        try press("survey-stop", page)
        try page.wait(until: "document.querySelector('#survey-state').textContent.startsWith('1 walk recorded')")
        XCTAssertTrue(try page.evaluate("\(form).hidden") as Bool)
        XCTAssertEqual(page.problems, [])

        let names = try FileManager.default.contentsOfDirectory(atPath: stage.folder)
        var reader = try RecordingReader(path: stage.folder + "/" + (try XCTUnwrap(names.first)))
        var truths: [Truth] = []
        while let entry = try reader.next() { if case .truth(let truth) = entry { truths.append(truth) } }
        XCTAssertEqual(truths.map(\.room), ["Lobby", "Workshop", "Workshop", "Cafe"])
        XCTAssertEqual(
            truths.map(\.point),
            [
                MapPoint(x: 5, y: 8.75), MapPoint(x: 13, y: 4.75), MapPoint(x: 13, y: 4.75), MapPoint(x: 7, y: 15.25),
            ])
        XCTAssertEqual(truths.map(\.mapID), [1, 1, 1, 1])
        XCTAssertEqual(truths.map(\.instant), truths.map(\.instant).sorted())
    }

    func testAWalkNeedsTheTokenAndTheOwnOrigin() throws {
        let stage = try stagedDevice()
        let token = "0123456789abcdef"
        let port = try surveyServer(stage, token: token).address.port
        let body = #"{"action":"start"}"#
        func status(_ headers: [String], _ path: String = "walks", body: String? = body) throws -> Int {
            try RawClient.request(
                body == nil ? "GET" : "POST", "/api/v1/survey/\(path)", port: port,
                headers: headers + ["Content-Type: application/json"], body: body
            ).status
        }
        let access = "Authorization: Bearer \(token)"
        XCTAssertEqual(try status([]), 401)
        XCTAssertEqual(try status([access, "Origin: http://example.org"]), 403)
        XCTAssertEqual(try status([access], body: "[]"), 400)
        XCTAssertEqual(try status([access], body: #"{"action":"start","tag":"a"}"#), 400)
        XCTAssertEqual(try status([access], body: nil), 405)
        XCTAssertEqual(try stage.ask { await stage.desk.status.count }, 0)
        XCTAssertEqual(try status([access, "Origin: http://127.0.0.1:\(port)"]), 200)
        XCTAssertEqual(try stage.ask { await stage.desk.status.count }, 1)
        XCTAssertEqual(try status([], "map", body: #"{"action":"adopt"}"#), 401)
        XCTAssertEqual(try status([access], "map", body: #"{"action":"adopt"}"#), 409)
        XCTAssertEqual(try status([access], "gaps?map=9", body: nil), 404)
    }

    func testARequestMarksEitherAPlaceOrAKnownRoom() throws {
        let stage = try stagedDevice()
        let port = try surveyServer(stage).address.port
        func reply(_ body: String, to path: String = "marks") throws -> RawClient.Reply {
            try RawClient.request(
                "POST", "/api/v1/survey/\(path)", port: port, headers: ["Content-Type: application/json"], body: body)
        }
        XCTAssertEqual(try reply(#"{"action":"start"}"#, to: "walks").status, 200)
        let known = try reply(#"{"room":12}"#)
        XCTAssertEqual(known.status, 200)
        XCTAssertTrue(known.text.contains(#"{"mapId":1,"x":31.50,"y":15.25,"room":"Kitchen"}"#), known.text)
        for body in [
            "{}", #"{"mapId":1,"x":3}"#, #"{"room":12,"mapId":1}"#, #"{"room":12,"mapId":1,"x":3,"y":4}"#,
        ] {
            let reply = try reply(body)
            XCTAssertEqual(reply.status, 400, body)
            XCTAssertTrue(
                reply.text.contains("Give either the members 'mapId', 'x' and 'y' or the member 'room'."), body)
        }
        XCTAssertEqual(try reply(#"{"room":"Kitchen"}"#).status, 400)
        let unknown = try reply(#"{"room":99}"#)
        XCTAssertEqual(unknown.status, 409)
        XCTAssertTrue(unknown.text.contains("The venue has no room 99."), unknown.text)
        XCTAssertEqual(try stage.ask { await stage.desk.status.first?.marks.map(\.room) }, ["Kitchen"])
    }

    func testASessionWithoutSurveysHasNoPanels() throws {
        let stage = try stagedDevice()
        let server = try LiveMapServer(content: stage.content, address: try LiveMapAddress("127.0.0.1:0"))
        addTeardownBlock { server.stop() }
        let page = try page()
        try page.setViewport(width: 390, height: 844, isTouch: true)
        try page.open(server.url)
        try ShownMap(page: page).waitUntilReady()
        XCTAssertTrue(try page.evaluate("window.liveMap.state().survey === null") as Bool)
        XCTAssertTrue(
            try page.evaluate(
                "document.querySelector('#survey').hidden && document.querySelector('#survey-map').hidden") as Bool)
    }

    func testTheControlsOfAWalkFitATelephone() throws {
        let stage = try stagedDevice()
        let page = try shown(stage)
        try press("survey-start", page)
        try page.wait(until: "!document.querySelector('#survey-stop').hidden")
        try ShownMap(page: page).assertLegible(at: [(390, 844), (1280, 800)])
    }
}
