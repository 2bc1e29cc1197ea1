import Foundation
import IndoorLocalizationTesting
import IndoorVocabulary
import VenueModel
import VenuePackets
import XCTest

/// Receivers, anchors, points of interest, areas, fences and paths that a pointer sets on the plan.
final class VenueKindTests: VenueEditorCase {
    private func assert(_ point: MapPoint?, _ x: Double, _ y: Double, line: UInt = #line) throws {
        let point = try XCTUnwrap(point, line: line)
        XCTAssertEqual(point.x, x, accuracy: 0.05, line: line)
        XCTAssertEqual(point.y, y, accuracy: 0.05, line: line)
    }

    private func corners(of area: Area?) -> [MapPoint] {
        if case .polygon(let corners) = area { corners } else { [] }
    }

    private func circle(_ area: Area?) -> (center: MapPoint, radius: Double)? {
        if case .circle(let center, let radius) = area { (center, radius) } else { nil }
    }

    func testReceiversAnchorsAndPointsAreSetMovedAndWrittenWithTheirFields() throws {
        let editor = try editor()
        try editor.choose("receiver")
        try editor.click((20, 10))
        try editor.enter("kitchen", into: "id")
        try editor.enter("C8:25:2D:8E:9C:2C, oven", into: "aliases")
        try editor.choose("anchor")
        try editor.click((22, 10))
        try editor.enter("2.5", into: "z")
        try editor.choose("poi")
        try editor.click((24, 14))
        try editor.enter("Copier", into: "name")
        try editor.enter("Two sides", into: "description")
        try editor.enter(#"{"icon": "copy"}"#, into: "payload")
        try editor.choose("select")
        try editor.drag(from: (24, 14), to: (25, 15))
        try editor.save()
        let venue = try editor.venue
        let receiver = try XCTUnwrap(venue.receivers.first)
        XCTAssertEqual(receiver.id, "kitchen")
        XCTAssertEqual(receiver.aliases, ["C8:25:2D:8E:9C:2C", "oven"])
        try assert(receiver.point, 20, 10)
        let anchor = try XCTUnwrap(venue.anchors.first)
        XCTAssertEqual(anchor.id, "anchor-1")
        XCTAssertEqual(anchor.z, 2.5)
        try assert(anchor.point, 22, 10)
        let point = try XCTUnwrap(venue.pointsOfInterest.last)
        XCTAssertEqual(point.id, 7, "the first number that is free")
        XCTAssertEqual(point.name, "Copier")
        XCTAssertEqual(point.description, "Two sides")
        XCTAssertTrue(try editor.text.contains(#""payload": {"icon": "copy"}"#), "the payload stays JSON")
        try assert(point.point, 25, 15)
        XCTAssertEqual(editor.problems, [])
    }

    func testAPayloadKeepsNumbersThatTheBrowserCannotRepresent() throws {
        let payload = #"{"serial": 12345678901234567890, "icon": "desk"}"#
        let editor = try editor { folder in
            let file = URL(filePath: folder + "/venue.json")
            let text = try String(contentsOf: file, encoding: .utf8)
            let old = #""payload": {"icon": "desk", "phone": "100"}"#
            XCTAssertTrue(text.contains(old))
            try Data(text.replacingOccurrences(of: old, with: "\"payload\": " + payload).utf8).write(to: file)
        }
        try editor.page.run("document.querySelector('[data-object=poi-0]').click()")
        XCTAssertEqual(
            try editor.page.evaluate("document.getElementById('field-payload').value", as: String.self), payload)
        try editor.enter("{", into: "payload")
        XCTAssertTrue(try editor.map.text(of: "#invalid-payload").contains("Give a JSON value"))
        try editor.enter(#"{"serial": 12345678901234567890, "icon": "sofa"}"#, into: "payload")
        try editor.save()
        XCTAssertTrue(try editor.text.contains(#""payload": {"serial": 12345678901234567890, "icon": "sofa"}"#))
    }

    func testABeaconBecomesAReceiverAndUndoMakesItABeaconAgain() throws {
        let editor = try editor()
        let before = try editor.venue
        try editor.click((16, 7.5))
        try editor.select("receiver", in: "role")
        XCTAssertEqual(try editor.state.selected, "receiver 5")
        try editor.save()
        XCTAssertEqual(try editor.venue.beacons.count, before.beacons.count - 1)
        XCTAssertEqual(try editor.venue.receivers.map(\.id), ["receiver-1"])
        XCTAssertEqual(try editor.venue.receivers.first?.point, MapPoint(x: 16, y: 7.5))
        try editor.select("beacon", in: "role")
        try editor.save()
        XCTAssertEqual(try editor.venue.beacons[5].identity.minor, 19, "a new identity, as the earlier one is gone")
        try editor.page.press(.character("z"), holding: .control)
        try editor.page.press(.character("z"), holding: .control)
        XCTAssertEqual(try editor.state.selected, "beacon 5")
        try editor.save()
        XCTAssertEqual(try editor.venue, before)
    }

    func testAWalkableAreaAndAFenceAreDrawnReshapedAndDeleted() throws {
        let editor = try editor()
        let before = try editor.venue
        try editor.choose("walkable")
        try editor.click((14, 13), (19, 13), (19, 17), (14, 17))
        try editor.page.press(.enter)
        try editor.choose("fence")
        try editor.click((26, 2), (29, 2), (29, 6), (26, 2))
        try editor.enter("Stairwell", into: "name")
        try editor.enter("20", into: "timeout")
        try editor.page.press(.escape)
        try editor.choose("select")
        try editor.drag(from: (29, 6), to: (29.5, 5))
        try editor.save()
        var venue = try editor.venue
        XCTAssertEqual(venue.maps[0].walkable.count, before.maps[0].walkable.count + 1)
        try assert(venue.maps[0].walkable.last?[2], 19, 17)
        let fence = try XCTUnwrap(venue.fences.last)
        XCTAssertEqual(fence.name, "Stairwell")
        XCTAssertEqual(fence.timeout, .seconds(20))
        try assert(corners(of: fence.area).last, 29.5, 5)
        try editor.page.press(.escape)
        try editor.choose("delete")
        try editor.click((28.5, 3))
        try editor.save()
        venue = try editor.venue
        XCTAssertEqual(venue.fences, before.fences)
        XCTAssertEqual(editor.problems, [])
    }

    func testTheLineOfACircleSetsItsRadiusAndACircleBecomesAPolygon() throws {
        let editor = try editor()
        try editor.click((2.5, 8.3))
        XCTAssertEqual(try editor.state.selected, "fence 0")
        try editor.drag(from: (4.5, 10), to: (5.5, 10))
        try editor.drag(from: (2.5, 8.3), to: (4.5, 9.3))
        try editor.save()
        let moved = try XCTUnwrap(circle(try editor.venue.fences[0].area))
        try assert(moved.center, 4.5, 11)
        XCTAssertEqual(moved.radius, 3, accuracy: 0.05)
        try editor.select("polygon", in: "shape")
        try editor.save()
        XCTAssertEqual(corners(of: try editor.venue.fences[0].area).count, 16)
        try editor.select("circle", in: "shape")
        try editor.save()
        XCTAssertEqual(try XCTUnwrap(circle(try editor.venue.fences[0].area)).radius, moved.radius, accuracy: 0.05)
    }

    func testASecondClickAtAPlaceSelectsTheObjectBelow() throws {
        let editor = try editor()
        try editor.click((7, 14))
        XCTAssertEqual(try editor.state.selected, "room 8")
        // Two clicks in a short time are a double click, which zooms.
        try editor.page.run("await new Promise((done) => setTimeout(done, 320))")
        try editor.click((7, 14))
        XCTAssertEqual(try editor.state.selected, "fence 1", "a fence of the same shape")
    }

    func testAPathJoinsAndDividesOthersAndItsNodesMoveAndVanishWithIt() throws {
        let editor = try editor()
        let before = try XCTUnwrap(try editor.venue.paths)
        try editor.choose("path")
        // From a node to a place in the middle of the path from 19 to 4.
        try editor.click((13, 10), (15, 12), (19, 10.1))
        try editor.page.press(.enter)
        try editor.save()
        var paths = try XCTUnwrap(try editor.venue.paths)
        let new = paths.nodes.suffix(2)
        XCTAssertEqual(paths.nodes.count, before.nodes.count + 2)
        XCTAssertEqual(paths.edges.count, before.edges.count + 3, "two new ones, and one that is divided")
        XCTAssertEqual(new.last?.point, MapPoint(x: 19, y: 10), "on the path")
        let (bend, joint) = (try XCTUnwrap(new.first), try XCTUnwrap(new.last))
        for (from, to) in [(3, bend.id), (bend.id, joint.id), (19, joint.id), (joint.id, 4)] {
            XCTAssertTrue(paths.edges.contains { $0.from == from && $0.to == to }, "\(from) to \(to)")
        }
        XCTAssertFalse(paths.edges.contains { $0.from == 19 && $0.to == 4 })
        try editor.choose("select")
        try editor.page.press(.escape)
        try editor.drag(from: (15, 12), to: (16, 13))
        XCTAssertEqual(try editor.state.selected, "node \(paths.nodes.count - 2)")
        try editor.enter("90", into: "id")
        try editor.save()
        paths = try XCTUnwrap(try editor.venue.paths)
        try assert(paths.nodes.first { $0.id == 90 }?.point, 16, 13)
        XCTAssertEqual(paths.edges.count { $0.from == 90 || $0.to == 90 }, 2, "the paths follow the number")
        try editor.page.press(.escape)
        try editor.page.press(.delete)
        try editor.save()
        paths = try XCTUnwrap(try editor.venue.paths)
        XCTAssertEqual(paths.nodes.count, before.nodes.count + 1)
        XCTAssertEqual(paths.edges.count, before.edges.count + 1)
        XCTAssertEqual(editor.problems, [])
    }

    func testTwoCoordinatesPlaceThePlanOnEarth() throws {
        let editor = try editor()
        let before = try XCTUnwrap(try editor.venue.maps[0].georeference)
        try editor.choose("coordinate")
        try editor.click((3, 3))
        try editor.enter("50.111", into: "latitude")
        try editor.enter("8.6821", into: "longitude")
        try editor.waitForCheck()
        XCTAssertTrue(try editor.map.text(of: "#problem-list").contains("give two or more"))
        try editor.page.press(.escape)
        try editor.click((30, 15))
        try editor.enter("50.11108", into: "latitude")
        try editor.enter("8.68252", into: "longitude")
        try editor.save()
        guard case .controlPoints(let points) = try editor.venue.maps[0].georeference else {
            return XCTFail("there are no control points")
        }
        XCTAssertEqual(points.map(\.coordinate.longitude), [8.6821, 8.68252])
        try assert(points.last?.point, 30, 15)
        try editor.page.press(.character("z"), holding: .control)
        for _ in 0..<5 { try editor.page.press(.character("z"), holding: .control) }
        try editor.save()
        XCTAssertEqual(try editor.venue.maps[0].georeference, before)
    }

    /// Without its place, an interaction makes the venue invalid, and the page has no list of interactions.
    func testAnInteractionGoesWithItsPlaceAndFollowsItsNumber() throws {
        let editor = try editor { folder in
            let file = URL(filePath: folder + "/venue.json")
            let text = try String(contentsOf: file, encoding: .utf8)
            let paths = "  \"paths\": {"
            XCTAssertTrue(text.contains(paths))
            let interactions = """
                  "interactions": [
                    {"id": 1, "name": "Desk", "poi": 1}, {"id": 2, "name": "Coffee", "poi": 2},
                    {"id": 3, "name": "Soup", "event": 2}, {"id": 4, "name": "Lab", "room": 4}
                  ],

                """
            try Data(text.replacingOccurrences(of: paths, with: interactions + paths).utf8).write(to: file)
        }
        let before = try editor.venue
        XCTAssertEqual(before.interactions.count, 4)
        try editor.page.run("document.querySelector('[data-object=fence-1]').click()")
        try editor.enter("12", into: "id")
        for name in ["poi-0", "room-3"] {
            try editor.page.run("document.querySelector('[data-object=\(name)]').click()")
            try editor.page.run("document.getElementById('delete').click()")
            XCTAssertTrue(try editor.map.text(of: "#notice").contains("and 1 interaction with it deleted"))
        }
        try editor.save()
        XCTAssertEqual(try editor.venue.interactions.map(\.target), [.pointOfInterest(2), .fence(12)])
        for _ in 0..<3 { try editor.page.press(.character("z"), holding: .control) }
        try editor.save()
        XCTAssertEqual(try editor.venue, before)
        XCTAssertEqual(editor.problems, [])
    }

    func testStairsJoinTwoFloorsAndAPathHasFields() throws {
        let editor = try editor()
        try editor.page.run("document.getElementById('paths').click()")
        try editor.click((13, 10))
        XCTAssertEqual(try editor.state.selected, "node 2")
        try editor.select("46", in: "join")
        try editor.click((9, 10))
        let selected = try editor.state.selected
        XCTAssertTrue(selected.hasPrefix("path"), selected)
        try editor.page.run("document.getElementById('field-oneWay').click()")
        try editor.enter("9", into: "weight")
        try editor.enter("carpet, quiet", into: "tags")
        try editor.save()
        let paths = try XCTUnwrap(try editor.venue.paths)
        let stairs = try XCTUnwrap(paths.edges.last)
        XCTAssertEqual([stairs.from, stairs.to], [3, 46])
        XCTAssertEqual(stairs.kind, .stairs)
        let edge = try XCTUnwrap(paths.edges.first { !$0.tags.isEmpty })
        XCTAssertEqual(edge.tags, ["carpet", "quiet"])
        XCTAssertEqual(edge.weight, 9)
        XCTAssertTrue(edge.isOneWay)
        XCTAssertEqual([edge.from, edge.to], [18, 3])
    }
}

/// The list of objects, the keys, and what the page shows of a venue with many objects.
final class VenueListTests: VenueEditorCase {
    /// Replaces the objects of a packet by 300 rooms, 600 walls and 100 beacons on one map of 120 by 67 m.
    private func fill(_ folder: String) throws {
        let file = URL(filePath: folder + "/venue.json")
        let read = try JSONSerialization.jsonObject(with: Data(contentsOf: file))
        var document = try XCTUnwrap(read as? [String: Any])
        var map = try XCTUnwrap((document["maps"] as? [[String: Any]])?.first)
        for key in ["pois", "events", "paths", "settings"] { document[key] = nil }
        for key in ["walkable", "tiles", "widthPixels", "heightPixels"] { map[key] = nil }
        map["widthMeters"] = 120
        map["heightMeters"] = 66.667
        let model = try XCTUnwrap((document["beacons"] as? [[String: Any]])?.first)
        var (walls, rooms, points, beacons): ([[[Double]]], [[String: Any]], [[String: Any]], [[String: Any]])
        (walls, rooms, points, beacons) = ([], [], [], [])
        for number in 1...300 {
            let (left, top) = (Double((number - 1) % 20) * 6, Double((number - 1) / 20) * 4.4)
            let (right, bottom) = (left + 5.8, top + 3.6)
            walls += [[[left, top], [right, top]], [[left, top], [left, bottom]]]
            let polygon: [[Double]] = [[left, top], [right, top], [right, bottom], [left, bottom]]
            rooms.append(["id": number, "name": "Room \(number)", "mapId": 1, "polygon": polygon])
            if number <= 60 {
                points.append(["id": number, "name": "Printer \(number)", "mapId": 1, "x": left + 3, "y": top + 2])
            }
            if number <= 100 { beacons.append(model.merging(["minor": number, "x": left + 3, "y": top + 2]) { $1 }) }
        }
        map["walls"] = walls
        document["maps"] = [map]
        document["rooms"] = rooms
        document["pois"] = points
        document["beacons"] = beacons
        try JSONSerialization.data(withJSONObject: document).write(to: file)
    }

    private func listed(_ editor: Editor) throws -> [String] {
        try editor.page.evaluate(
            "[...document.querySelectorAll('#object-list [data-object]')].map((one) => one.dataset.object)")
    }

    func testAnObjectOfManyIsFoundByTextAndKindAndAClickShowsIt() throws {
        let editor = try editor { try fill($0) }
        XCTAssertEqual(try listed(editor).count, 1060)
        XCTAssertTrue(try editor.map.text(of: "#object-count").contains("300 rooms"))
        try editor.page.press(.character("/"))
        for character in "12" { try editor.page.press(.character(character)) }
        let found = try listed(editor)
        XCTAssertTrue(found.contains("room-11") && found.contains("poi-11"), "\(found)")
        try editor.page.run(
            """
            const kind = document.getElementById("find-kind");
            kind.value = "room";
            kind.dispatchEvent(new Event("change"));
            """)
        XCTAssertEqual(try editor.map.text(of: "#object-count"), "\(try listed(editor).count) of 1060")
        XCTAssertTrue(try listed(editor).allSatisfy { $0.hasPrefix("room-") })
        for character in "0 room" { try editor.page.press(.character(character)) }
        XCTAssertEqual(try listed(editor), ["room-119"])
        // Far away from the part that is visible.
        try editor.page.press(.tab)
        for _ in 0..<6 { try editor.map.click("#zoom-in") }
        try editor.page.run("document.getElementById('find').focus()")
        try editor.page.press(.enter)
        XCTAssertEqual(try editor.state.selected, "room-119".replacingOccurrences(of: "-", with: " "))
        try editor.map.waitForDrawing()
        let middle = try editor.point(19 * 6 + 2.9, 5 * 4.4 + 1.8)
        let plan: ShownMap.Box = try editor.page.evaluate(
            "document.getElementById('plan').getBoundingClientRect().toJSON()")
        XCTAssertGreaterThan(middle.x, plan.left)
        XCTAssertLessThan(middle.x, plan.left + plan.width)
        XCTAssertEqual(editor.problems, [])
    }

    func testLabelsCoverNeitherEachOtherNorBeacons() throws {
        let editor = try editor { try fill($0) }
        try editor.page.run("document.getElementById('names').click()")
        for zoom in 0..<3 {
            try editor.map.waitForDrawing()
            let boxes: [[Double]] = try editor.page.evaluate("window.venueEditor.labels()")
            if zoom == 2 { XCTAssertGreaterThan(boxes.count, 50) }
            for (index, one) in boxes.enumerated() {
                for other in boxes[(index + 1)...] {
                    XCTAssertFalse(
                        one[0] < other[2] && other[0] < one[2] && one[1] < other[3] && other[1] < one[3],
                        "zoom \(zoom): \(one) and \(other)")
                }
            }
            let covered: Int = try editor.page.evaluate(
                """
                (() => {
                    const plan = document.getElementById("plan").getBoundingClientRect();
                    return window.venueEditor.document().beacons.filter((beacon) => {
                        const place = window.venueEditor.screenPoint(beacon.x, beacon.y);
                        const [x, y] = [place.x - plan.left, place.y - plan.top];
                        return window.venueEditor.labels().some(([left, top, right, bottom]) => (
                            x > left && x < right && y > top && y < bottom));
                    }).length;
                })()
                """)
            XCTAssertEqual(covered, 0, "beacons at zoom \(zoom)")
            try editor.map.click("#zoom-in")
        }
    }

    func testEnterLeavesAFieldAndTheKeysThatFollowChangeNothing() throws {
        let editor = try editor()
        try editor.click((7, 14))
        try editor.page.run("const field = document.getElementById('field-name'); field.focus(); field.select();")
        for character in "Garage" { try editor.page.press(.character(character)) }
        try editor.page.press(.enter)
        for character in "Rx b" { try editor.page.press(.character(character)) }
        try editor.page.press(.delete)
        XCTAssertEqual(try editor.state.tool, "select")
        XCTAssertEqual(try editor.state.selected, "room 8")
        XCTAssertEqual(try editor.state.steps, 1)
        try editor.save()
        XCTAssertEqual(try editor.venue.rooms[8].name, "Garage")
        // With Escape, the plan gets the keys again.
        try editor.page.press(.escape)
        try editor.page.press(.character("r"))
        XCTAssertEqual(try editor.state.tool, "room")
    }

    func testEscapeGivesAFieldItsEarlierValue() throws {
        let editor = try editor()
        try editor.click((7, 14))
        try editor.page.run("document.getElementById('field-name').focus()")
        for character in "xyz" { try editor.page.press(.character(character)) }
        try editor.page.press(.escape)
        XCTAssertEqual(
            try editor.page.evaluate("document.getElementById('field-name').value", as: String.self), "Cafe")
        XCTAssertFalse(try editor.state.isChanged)
    }

    func testProblemsFollowTheEditWithoutSaving() throws {
        let editor = try editor()
        let before = try editor.text
        try editor.click((16, 7.5))
        try editor.enter("not a uuid", into: "uuid")
        try editor.waitForCheck()
        XCTAssertTrue(try editor.map.text(of: "#problem-list").contains("not a uuid"))
        try editor.page.press(.escape)
        try editor.page.press(.character("z"), holding: .control)
        try editor.waitForCheck()
        XCTAssertTrue(try editor.page.evaluate("document.getElementById('problems').hidden"))
        XCTAssertEqual(try editor.text, before)
        XCTAssertEqual(editor.problems, [])
    }

    func testTheToolsAreUsableOnATelephone() throws {
        let editor = try editor(width: 390, height: 844, isTouch: true)
        try editor.page.touch([[try editor.map.box(of: "#more").middle]])
        try editor.page.wait(until: "document.getElementById('more-tools').matches(':popover-open')")
        XCTAssertEqual(try editor.page.misplacedControls(grounds: "#plan, #panels *, #more-tools *"), [])
        try editor.page.touch([[try editor.map.box(of: "#more-tools [data-tool=fence]").middle]])
        try editor.page.wait(until: "window.venueEditor.state().tool === 'fence'")
        for place in [(14.0, 13.0), (19, 13), (19, 17)] {
            try editor.page.touch([[try editor.point(place.0, place.1)]])
        }
        try editor.page.wait(until: "window.venueEditor.state().draft === 3")
        try editor.page.touch([[try editor.map.box(of: "#finish").middle]])
        try editor.page.wait(until: "window.venueEditor.state().selected === 'fence 5'")
        try editor.map.click("#save")
        try editor.page.wait(until: "!window.venueEditor.state().isChanged")
        XCTAssertEqual(try editor.venue.fences.count, 6)
        XCTAssertFalse(try editor.page.scrollsSideways)
        // The menu also has the kinds with a button of their own on a wide screen.
        try editor.choose("wall")
        XCTAssertEqual(try editor.state.tool, "wall")
        XCTAssertEqual(try editor.map.text(of: "#more"), "Wall ▾")
        XCTAssertEqual(try editor.map.box(of: "#choices").width, 0)
        try editor.map.click("#view")
        XCTAssertGreaterThan(try editor.map.box(of: "#choices").width, 100)
    }
}
