import Foundation
import IndoorVocabulary
import LiveMap
import TagTracking
import TagTrackingService
import VenueModel
import XCTest

/// The page of all tags in a browser, from a server.
final class TagPageTests: BrowserTestCase {
    /// What `window.tagMap.state()` returns; see `tags-main.js`.
    private struct State: Decodable {
        var tags: Int
        var drawn: Int
        var mapId: Int?
        var selected: String?
        var trail: Int
        var connection: String
    }

    private let cart = "AA:BB:CC:DD:EE:01"

    private func board() throws -> TagBoard {
        let board = TagBoard(receivers: TagStage.venue.receivers, run: "r")
        board.put(try TagStage.outputs())
        return board
    }

    /// Opens the page of a board, and waits until it shows the tags and follows the changes.
    private func shown(
        _ board: TagBoard, width: Int = 1440, height: Int = 900, isDark: Bool = false, isTouch: Bool = false,
        hearings: (any HearingSource)? = nil, hasAlerts: Bool = false
    ) throws -> ShownMap {
        let server = try tagServer(board, hearings: hearings, hasAlerts: hasAlerts)
        let map = ShownMap(
            page: try tagPage(of: server, width: width, height: height, isTouch: isTouch, isDark: isDark))
        try wait(map, until: "state.connection === 'connected'")
        return map
    }

    private func wait(_ map: ShownMap, until condition: String) throws {
        try map.page.wait(until: "((state) => \(condition))(window.tagMap.state())")
        try map.waitForDrawing()
    }

    private func state(_ map: ShownMap) throws -> State { try map.page.evaluate("window.tagMap.state()") }

    private func point(_ map: ShownMap, _ mapID: Int, _ x: Double, _ y: Double) throws -> ShownMap.Point {
        try map.page.evaluate("window.tagMap.screenPoint(\(mapID), \(x), \(y))")
    }

    private func rows(_ map: ShownMap) throws -> [[String]] {
        try map.page.evaluate(
            """
            [...document.querySelectorAll("#tag-list button")].map((row) =>
                [row.querySelector(".name").textContent, row.querySelector(".place").textContent])
            """)
    }

    /// Returns the discs of a colour.
    private func discs(_ map: ShownMap, _ name: String, decoder: BrowserPage) throws -> [ScreenPixels.Shape] {
        let color = try XCTUnwrap(ScreenPixels.Color(hex: try map.page.rootProperty(name)))
        return try map.pixels(decoder: decoder).shapes(of: color).filter { shape in
            abs(shape.width - shape.height) <= 1 && (6...16).contains(shape.width)
                && Double(shape.count) > 0.55 * Double(shape.width * shape.height)
        }
    }

    // MARK: Plan

    func testADotIsAtTheTagsPlaceAndMovesWithIt() throws {
        let board = try board()
        let map = try shown(board)
        let decoder = try page()
        for (sequence, x, y) in [(2, 5.0, 5.0), (3, 12.5, 3), (4, 19, 9)] {
            if sequence > 2 {
                board.put([
                    try TagStage.output(cart, UInt64(sequence), TagStage.position(x, y, label: "Hall"), name: "Cart")
                ])
                // The label below the dot moves with it.
                try map.page.wait(
                    until: "window.tagMap.positionOf('\(cart)').x === \(x) && window.tagMap.state().drawn === 1")
                try map.waitForDrawing()
            }
            let expected = try point(map, 1, x, y)
            let discs = try discs(map, "--estimate", decoder: decoder)
            XCTAssertEqual(discs.count, 1, "\(discs)")
            let disc = try XCTUnwrap(discs.first)
            XCTAssertEqual(disc.x, expected.x, accuracy: 1)
            XCTAssertEqual(disc.y, expected.y, accuracy: 1)
        }
        XCTAssertEqual(map.page.problems, [])
    }

    func testAlertsAreListedUntilTheyEndAndSelectTheirTag() throws {
        let board = try board()
        board.put(try TagStage.alerts())
        let map = try shown(board, hasAlerts: true)
        func texts(_ list: String) throws -> [[String]] {
            try map.page.evaluate(
                """
                [...document.querySelectorAll("#\(list) button")].map((row) =>
                    [...row.querySelectorAll("span:not(.age)")].map((one) => one.textContent))
                """)
        }
        XCTAssertEqual(try texts("alert-list"), [["Cart", "Cart leaves hall", "Has left Hall"]])
        XCTAssertEqual(try map.text(of: "#alert-count"), "1 alert")
        XCTAssertEqual(
            try texts("latest-alert-list").map { $0[1] }, ["Cart leaves hall", "Ended: Old", "Old"])
        try map.click("#alert-list button")
        try wait(map, until: "state.selected === '\(cart)'")
        board.put([try TagStage.alert(4, .raised, rule: "Second"), try TagStage.alert(5, .cleared, of: 3)])
        // The page can show the first event before it has the second one.
        try map.page.wait(
            until: "document.querySelector('#alert-list .rule').textContent === 'Second' "
                + "&& document.querySelector('#alert-count').textContent === '1 alert'")
        XCTAssertEqual(try texts("alert-list").map { $0[1] }, ["Second"])
        board.put([try TagStage.alert(6, .cleared, of: 4, rule: "Second")])
        try map.page.wait(until: "document.querySelector('#alert-count').textContent === 'No alert'")
        XCTAssertEqual(try texts("alert-list"), [])
        XCTAssertEqual(map.page.problems, [])
    }

    func testAlertsThatTheServerDoesNotListAreCounted() throws {
        let board = try board()
        var status = try TagStage.alerts()
        status.active = try (1...1_002).map { try TagStage.alert($0 + 100, .raised) }
        board.put(status)
        let map = try shown(board, hasAlerts: true)
        XCTAssertEqual(try map.text(of: "#alert-count"), "1002 alerts")
        board.put([try TagStage.alert(2_000, .cleared, of: 101), try TagStage.alert(2_001, .repeated, of: 102)])
        try map.page.wait(until: "document.querySelector('#alert-count').textContent === '1001 alerts'")
        board.put([try TagStage.alert(2_002, .raised, rule: "New")])
        try map.page.wait(until: "document.querySelector('#alert-list .rule').textContent === 'New'")
        XCTAssertEqual(try map.text(of: "#alert-count"), "1002 alerts")
        XCTAssertEqual(map.page.problems, [])
    }

    func testAPageWithoutRulesHasNoAlertsAndASelectedTagHasItsBattery() throws {
        let board = try board()
        board.put([.name("lift"): TagBattery(percent: 55, millivolts: 2_870)])
        let map = try shown(board)
        XCTAssertTrue(try map.page.evaluate("document.querySelector('#alerts').hidden"))
        try map.click("#tag-list [data-tag='lift']")
        try map.page.wait(
            until: "document.querySelector('#facts-list').textContent.includes('Battery55\\u00a0%, 2.87\\u00a0V')")
        XCTAssertEqual(map.page.problems, [])
    }

    func testTheFloorSwitchShowsTheTagsOfTheFloor() throws {
        let map = try shown(try board())
        XCTAssertEqual(try state(map).mapId, 1)
        XCTAssertEqual(try state(map).drawn, 1)
        try map.click("#floors [data-map='2']")
        try wait(map, until: "state.mapId === 2 && state.drawn === 1")
        XCTAssertEqual(try map.text(of: "#count"), "3 tags, 2 present, 1 away")
    }

    func testATagThatIsAwayLeavesThePlanAndIsListedAsAway() throws {
        let board = try board()
        let map = try shown(board)
        XCTAssertEqual(try state(map).drawn, 1)
        XCTAssertEqual(try rows(map).first, ["Cart", "Hall, Ground floor"])
        board.put([try TagStage.output(cart, 3, .away, name: "Cart", at: 61)])
        try wait(map, until: "state.drawn === 0")
        try map.page.wait(until: "document.querySelectorAll('#tag-list .away').length === 2")
        XCTAssertEqual(
            try rows(map),
            [
                ["E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2", "Upper floor"],
                ["Cart", "Away, last in Hall, Ground floor"],
                ["lift", "Away, last in Ground floor"],
            ])
        let decoder = try page()
        XCTAssertEqual(try discs(map, "--estimate", decoder: decoder), [])
        board.drop([.name("lift")])
        try wait(map, until: "state.tags === 2")
    }

    func testTenThousandDotsTakeLessTimeThanSquaresOfTheSameNumber() throws {
        struct Timing: Decodable {
            var drawing: [Double]
            var baseline: [Double]
        }
        let board = TagBoard(run: "r")
        board.put(
            try (0..<10_000).map { number in
                try TagStage.output(
                    "tag \(number)", 1,
                    TagStage.position(
                        20 * Double(number % 100) / 100 + 0.1, 10 * Double(number / 100) / 100 + 0.05))
            })
        let map = try shown(board)
        try wait(map, until: "state.drawn === 10000")
        XCTAssertEqual(try map.page.evaluate("document.querySelectorAll('#tag-list li').length", as: Int.self), 100)
        XCTAssertEqual(try map.text(of: "#more"), "9900 more: search to see them.")
        let timing = try map.page.evaluate(
            """
            (async () => {
                const result = { drawing: [], baseline: [] };
                const plan = document.getElementById("canvas-tags");
                const { width, height } = plan;
                const other = Object.assign(document.createElement("canvas"), { width, height }).getContext("2d");
                const fill = () => {
                    other.clearRect(0, 0, width, height);
                    for (let index = 0; index < 10000; index++) {
                        other.fillRect((index * 7919) % width, (index * 104729) % height, 6, 6);
                    }
                    other.getImageData(0, 0, 1, 1);
                };
                for (let turn = 0; turn < 9; turn++) {
                    let start = performance.now();
                    window.tagMap.redraw();
                    plan.getContext("2d").getImageData(0, 0, 1, 1);
                    result.drawing.push(performance.now() - start);
                    start = performance.now();
                    fill();
                    result.baseline.push(performance.now() - start);
                }
                return result;
            })()
            """, as: Timing.self)
        let (drawing, baseline) = (timing.drawing.sorted()[4], timing.baseline.sorted()[4])
        print("drawing of 10,000 dots: median \(drawing) ms, squares of the same number \(baseline) ms")
        // Both were measured in the same run, so that the machine's speed cancels out. The limit is generous.
        XCTAssertLessThan(drawing, 8 * baseline)
    }

    // MARK: Selection

    func testASelectedTagShowsItsFactsAndItsTrail() throws {
        let board = TagBoard(receivers: TagStage.venue.receivers, run: "r")
        for second in 0..<10 {
            board.put([
                try TagStage.output(
                    cart, UInt64(second + 1), TagStage.position(3 + Double(second), label: "Hall", at: Double(second)),
                    name: "Cart", at: Double(second))
            ])
        }
        let map = try shown(board)
        let decoder = try page()
        let route = try XCTUnwrap(ScreenPixels.Color(hex: try map.page.rootProperty("--route")))
        XCTAssertEqual(try map.pixels(decoder: decoder).shapes(of: route).filter { $0.width > 50 }, [])
        let dot = try point(map, 1, 12, 5)
        try map.page.click(x: dot.x + 3, y: dot.y - 2)
        try wait(map, until: "state.selected === '\(cart)' && state.trail === 10")
        XCTAssertEqual(try map.text(of: "#selection-name"), "Cart")
        let facts = try map.facts
        XCTAssertTrue(facts.contains(["State", "Present"]), "\(facts)")
        XCTAssertTrue(facts.contains(["Key", cart]), "\(facts)")
        XCTAssertTrue(facts.contains(["Room", "Hall"]), "\(facts)")
        XCTAssertTrue(facts.contains(["Radius (68 %)", "1.5 m"]), "\(facts)")
        let line = try XCTUnwrap(
            try map.pixels(decoder: decoder).shapes(of: route, tolerance: 40).first { $0.width > 50 })
        XCTAssertEqual(Double(line.left), try point(map, 1, 3, 5).x, accuracy: 3)
        XCTAssertEqual(line.y, try point(map, 1, 3, 5).y, accuracy: 2)
        board.put([
            try TagStage.output(
                cart, 11, TagStage.position(12, 8, map: 2, at: 10), name: "Cart", at: 10)
        ])
        try wait(map, until: "state.trail === 11 && state.mapId === 2")
        try map.click("#deselect")
        try wait(map, until: "state.selected === null && state.trail === 0")
        XCTAssertTrue(try map.page.evaluate("document.getElementById('selection').hidden"))
    }

    func testTheSearchNarrowsTheListAndARowSelectsByKeyboard() throws {
        let map = try shown(try board())
        XCTAssertEqual(try rows(map).count, 3)
        for (text, expected) in [("hall", ["Cart"]), ("LIFT", ["lift"]), ("dd:ee", ["Cart"]), ("zebra", [])] {
            try map.page.run(
                """
                const field = document.getElementById("search");
                field.focus();
                field.value = "";
                """)
            for character in text { try map.page.press(.character(character)) }
            try map.page.wait(until: "document.querySelectorAll('#tag-list li').length === \(expected.count)")
            XCTAssertEqual(try rows(map).map(\.[0]), expected, text)
        }
        XCTAssertEqual(try map.text(of: "#count"), "0 tags found, 0 present, 0 away")
        try map.page.run("document.getElementById('search').value = ''")
        for character in "e2c5" { try map.page.press(.character(character)) }
        try map.page.wait(until: "document.querySelectorAll('#tag-list li').length === 1")
        try map.page.press(.down)
        try map.page.press(.enter)
        try wait(map, until: "state.selected?.startsWith('E2C56DB5') && state.mapId === 2 && state.trail === 1")
        XCTAssertEqual(map.page.problems, [])
    }

    func testReceiversAreListedWithTheirHealth() throws {
        let board = try board()
        let map = try shown(board)
        XCTAssertEqual(
            try map.page.evaluate(
                "[...document.querySelectorAll('#receiver-list .health')].map((one) => one.textContent)"),
            ["No problem reported", "No problem reported"])
        board.put([
            ReceiverEvent(receiver: "west", instant: TagStage.start, health: .silent, text: "no message for 60 s"),
            ReceiverEvent(receiver: "east", instant: TagStage.start, health: .healthy, text: "12 tags"),
        ])
        try map.page.wait(until: "document.querySelector('[data-health=silent]') !== null")
        XCTAssertEqual(
            try map.text(of: "[data-receiver=west]").split(separator: "\n").map(String.init),
            ["west", "Silent", "no message for 60 s"])
    }

    func testThePageTellsGatewaysThatNeverSentFromThoseThatDoAndFromMisspeltOnes() throws {
        let board = try board()
        let map = try shown(board)
        var activity = GatewayActivity()
        activity.latest = ["east": TagStage.start.advanced(by: .seconds(58))]
        activity.unknownGateways = [
            .init(name: "wets", latest: TagStage.start.advanced(by: .seconds(60)), nearest: "west")
        ]
        board.put(activity)
        try map.page.wait(until: "document.querySelector('[data-unknown=wets]') !== null")
        func lines(_ selector: String) throws -> [String] {
            try map.text(of: selector).split(separator: "\n").map(String.init)
        }
        XCTAssertEqual(
            try lines("[data-unknown=wets]").first?.lowercased(), #"unknown gateway "wets": is it "west"?"#)
        XCTAssertEqual(try lines("[data-receiver=west]"), ["west", "No message yet"])
        let east = try lines("[data-receiver=east]")
        XCTAssertEqual(Array(east.prefix(2)), ["east", "Sends"])
        XCTAssertTrue(east.last?.hasPrefix("Last message ") == true && east.last?.hasSuffix(" ago") == true, "\(east)")
        XCTAssertEqual(
            try map.page.evaluate(
                "[...document.querySelectorAll('#receiver-list li')].map((one) => Object.values(one.dataset)[0])"),
            ["wets", "west", "east"])
        // The latest message comes without a change of health.
        activity.latest["west"] = TagStage.start.advanced(by: .seconds(61))
        activity.unknownGateways = []
        board.put(activity)
        try map.page.wait(until: "document.querySelector('[data-unknown]') === null")
        XCTAssertEqual(Array(try lines("[data-receiver=west]").prefix(2)), ["west", "Sends"])
        XCTAssertEqual(map.page.problems, [])
    }

    // MARK: Hearings and groups

    private func hearings(_ map: ShownMap) throws -> [[String]] {
        try map.page.evaluate(
            """
            [...document.querySelectorAll("#hearing-list button")].map((row) =>
                [row.querySelector(".name").textContent, row.querySelector(".signal").textContent])
            """)
    }

    func testTheSelectedTagListsItsReceiversAndAReceiverItsTags() throws {
        let board = try board()
        let map = try shown(board, hearings: try StagedHearings())
        try map.click("#tag-list [data-tag='\(cart)']")
        try map.page.wait(until: "document.querySelectorAll('#hearing-list li').length === 3")
        XCTAssertEqual(try map.text(of: "#hearings-title"), "Heard by")
        XCTAssertEqual(
            try hearings(map),
            [
                ["west", "\u{2212}60\u{A0}dBm"], ["east", "\u{2212}80\u{A0}dBm"],
                ["cellar (not in the venue)", "\u{2212}90\u{A0}dBm"],
            ])
        // The other way round, by the row of the receiver.
        try map.click("#hearing-list [data-key=east]")
        try map.page.wait(until: "document.querySelectorAll('#hearing-list li').length === 2")
        XCTAssertEqual(try map.text(of: "#selection-name"), "east")
        XCTAssertEqual(try map.text(of: "#hearings-title"), "Hears")
        XCTAssertEqual(try hearings(map).map(\.[0]), ["keys", "Cart"])
        XCTAssertNil(try state(map).selected)
        XCTAssertEqual(
            try map.page.evaluate("document.querySelector('[data-receiver=east] button').ariaPressed"), "true")
        // A tag without a state, and back by the list of receivers on the keyboard.
        try map.click("#hearing-list [data-key=keys]")
        try map.page.wait(until: "document.querySelectorAll('#hearing-list li').length === 1")
        let unlocated = try map.facts
        XCTAssertTrue(unlocated.contains(["State", "No position yet"]), "\(unlocated)")
        try map.page.run("document.querySelector('[data-receiver=west] button').focus()")
        try map.page.press(.enter)
        try map.page.wait(until: "document.getElementById('selection-name').textContent === 'west'")
        try map.page.wait(until: "document.querySelectorAll('#hearing-list li').length === 1")
        try map.click("#deselect")
        try map.page.wait(until: "document.getElementById('selection').hidden")
        XCTAssertEqual(map.page.problems, [])
    }

    func testAssetsAndPassersByAreTwoListsAndTagsThatWereNeverHeardAreListed() throws {
        let board = try board()
        board.put(try TagStage.register())
        let map = try shown(board, hearings: try StagedHearings())
        XCTAssertEqual(
            try rows(map),
            [
                ["lift", "Away, last in Ground floor"], ["Keys", "Heard, no position yet"], ["rope", "Never heard"],
            ])
        XCTAssertEqual(try map.text(of: "#count"), "3 tags, 0 present, 1 away, 2 never located")
        XCTAssertEqual(
            try map.page.evaluate("[...document.querySelectorAll('#groups button')].map((one) => one.textContent)"),
            ["Assets 3", "Passers-by 2"])
        try map.click("#tag-list [data-tag=lift]")
        try wait(map, until: "state.selected === 'lift'")
        let facts = try map.facts
        let seen = try XCTUnwrap(facts.first { $0[0] == "Last seen" }, "\(facts)")
        XCTAssertTrue(seen[1].hasPrefix("Ground floor, "), seen[1])
        try map.click("#tag-list [data-tag=rope]")
        try wait(map, until: "state.selected === 'rope'")
        let unheard = try map.facts
        XCTAssertTrue(unheard.contains(["State", "Never heard"]), "\(unheard)")
        try map.page.wait(until: "!document.getElementById('hearings-note').hidden")
        // The other list, by the keyboard.
        try map.page.run("document.querySelector('#groups [data-group=assets]').focus()")
        try map.page.press(.right)
        try map.page.wait(until: "document.querySelector('[data-group=others]').ariaChecked === 'true'")
        XCTAssertEqual(
            try rows(map).map(\.[0]), ["Cart", "E2C56DB5-DFFB-48D2-B060-D0F5A71096E0/1/2"])
        // A tag that is heard at last leaves the rows of those that never were.
        board.put([try TagStage.output("rope", 1, TagStage.position(4, label: "Hall"))])
        try map.page.wait(until: "document.querySelector('[data-group=assets]').textContent === 'Assets 3'")
        try map.click("#groups [data-group=assets]")
        try map.page.wait(until: "document.querySelector('#tag-list .place').textContent === 'Hall, Ground floor'")
        XCTAssertEqual(try rows(map).map(\.[0]), ["rope", "lift", "Keys"])
        XCTAssertEqual(map.page.problems, [])
    }

    /// A device without a battery for its clock can open the page before the network sets that clock.
    func testAgesAreRightAfterTheClockOfTheDeviceWasSet() throws {
        let board = try board()
        let page = try page()
        let script = """
            const opened = performance.now();
            window.behind = 7200000;
            Date.now = () => \(TagStage.start.nanoseconds / 1_000_000) - window.behind + performance.now() - opened;
            """
        try page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(script)])
        try page.open(try tagServer(board).url)
        try page.wait(until: "window.tagMap?.state().connection === 'connected'")
        try page.run("window.behind = 0")
        board.put([try TagStage.output(cart, 3, TagStage.position(6, label: "Loggia"), name: "Cart")])
        try page.wait(until: "document.querySelector('#tag-list').textContent.includes('Loggia')")
        let ages: [String] = try page.evaluate(
            "[...document.querySelectorAll('#tag-list .age')].map((one) => one.textContent)")
        XCTAssertEqual(ages.count, 3)
        for age in ages { XCTAssertFalse(age.hasSuffix("h"), "\(ages)") }
        XCTAssertEqual(page.problems, [])
    }

    // MARK: Layout and access

    func testThePageFitsEachScreenAndItsTextsAreLegible() throws {
        let board = try board()
        board.put(try TagStage.register())
        let map = try shown(board, isTouch: true, hearings: try StagedHearings())
        try map.page.run("document.querySelector('[data-group=others]').click()")
        try map.page.wait(until: "document.querySelector('#tag-list button .name').textContent === 'Cart'")
        try map.page.run("document.querySelector('#tag-list button').click()")
        try wait(map, until: "state.selected !== null")
        try map.page.wait(until: "document.querySelectorAll('#hearing-list li').length === 3")
        try map.assertLegible(at: [(320, 568), (360, 740), (390, 844), (820, 1180), (1024, 600), (1440, 900)])
    }

    func testTheTokenOpensThePageAndLeavesTheAddress() throws {
        let token = "0123456789abcdef"
        let server = try tagServer(try board(), token: token)
        let page = try page("\(server.url)?token=\(token)")
        try page.wait(until: "window.tagMap?.state().connection === 'connected'")
        XCTAssertEqual(try page.evaluate("location.search"), "")
        XCTAssertEqual(try page.evaluate("document.querySelectorAll('#tag-list li').length", as: Int.self), 3)
        XCTAssertEqual(page.problems, [])
    }
}
