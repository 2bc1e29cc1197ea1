import IndoorVocabulary
import TagTracking
import VenueModel
import XCTest

final class AlertRulesTests: XCTestCase {
    private func rules(_ text: String, register: TagRegister = AlertStage.register) throws -> [AlertRule] {
        try AlertRules(json: Array(text.utf8), venue: AlertStage.venue, register: register).list
    }

    private func problem(_ text: String, register: TagRegister = AlertStage.register) -> String? {
        do {
            _ = try rules(text, register: register)
            return nil
        } catch { return "\(error)" }
    }

    func testAFileHasRulesOfEachCondition() throws {
        let list = try rules(
            """
            [
              {"name": "Cart leaves ward", "when": "leaves", "room": "Ward", "tags": ["Cart", "C3:00:00:12:AB:34"]},
              {"name": "In the yard", "when": "enters", "fence": "Yard", "map": "Ground", "tags": "*", "after": 0},
              {"name": "Upstairs", "when": "enters", "map": "Upper", "tags": "Trolley *", "repeat": 60},
              {"name": "Lost", "when": "silent", "silence": 600, "tags": "*"},
              {"name": "Empty", "when": "batteryLow", "percent": 20, "volts": 2.5, "tags": "*"}
            ]
            """)
        XCTAssertEqual(list.map(\.condition), [.leaves, .enters, .enters, .silent, .batteryLow])
        XCTAssertEqual(list.map { $0.area?.name }, ["Ward", "Yard", "Upper", nil, nil])
        XCTAssertEqual(list[0].tags, [.named("Cart"), .named("C3:00:00:12:AB:34")])
        XCTAssertEqual(list[2].tags, [.beginning("Trolley ")])
        XCTAssertEqual(list.map(\.dwell), [.seconds(10), .zero, .seconds(10), .seconds(10), .seconds(10)])
        XCTAssertEqual(list[2].repetition, .seconds(60))
        XCTAssertEqual(list[3].silence, .seconds(600))
        XCTAssertEqual(list[4].battery, AlertRule.BatteryLimits(percent: 20, volts: 2.5))
    }

    func testAnErrorSaysLineMemberAndRemedy() {
        let cases: [(String, String)] = [
            ("[\n{\"name\": 3}]", "line 2, name: expected a string"),
            ("[{\"nme\": \"A\"}]", "line 1: expected one of the members"),
            ("[{\"name\": \"A\", \"name\": \"B\"}]", "line 1: expected each member once, not 'name' again"),
            ("[{\"when\": \"enters\"}]", "line 1, name: a rule needs a name"),
            ("[{\"name\": \"A\"}]", "line 1, when: a rule needs a condition: enters, leaves, silent, batteryLow"),
            ("[{\"name\": \"A\", \"when\": \"entres\"}]", "line 1, when: 'entres' is unknown; did you mean 'enters'?"),
            ("[{\"name\": \"A\", \"when\": \"enters\", \"room\": \"Ward\"}]", "line 1, tags: a rule needs tags"),
            (
                "[{\"name\": \"A\", \"when\": \"enters\", \"tags\": \"*\", \"room\": \"Wrad\"}]",
                "line 1, room: the venue has no room 'Wrad'; did you mean 'Ward'?"
            ),
            (
                "[{\"name\": \"A\", \"when\": \"enters\", \"tags\": \"*\", \"room\": \"Cellar\"}]",
                "line 1, room: the venue has no room 'Cellar'; use one of: Hall, Ward"
            ),
            (
                "[{\"name\": \"A\", \"when\": \"enters\", \"tags\": \"*\", \"room\": \"Ward\", \"map\": \"Upper\"}]",
                "line 1, room: the venue has no room 'Ward', which has none"
            ),
            (
                "[{\"name\": \"A\", \"when\": \"enters\", \"tags\": \"*\"}]",
                "line 1, room: the rule needs an area: 'room', 'fence' or 'map'"
            ),
            (
                "[{\"name\": \"A\", \"when\": \"enters\", \"tags\": \"*\", \"room\": \"Ward\", \"fence\": \"Yard\"}]",
                "line 1, fence: a rule has a room or a fence, not both"
            ),
            (
                "[{\"name\": \"A\", \"when\": \"enters\", \"tags\": [\"Cart\", \"\"], \"room\": \"Ward\"}]",
                "line 1, tags: '' isn't a name of a tag"
            ),
            ("[{\"name\": \"A\", \"when\": \"silent\", \"tags\": \"*\"}]", "line 1, silence: a rule for silence needs"),
            (
                "[{\"name\": \"A\", \"when\": \"silent\", \"tags\": \"*\", \"silence\": 60, \"after\": 5}]",
                "line 1, after: the member has no effect in a rule with the condition 'silent'"
            ),
            (
                "[{\"name\": \"A\", \"when\": \"silent\", \"tags\": \"*\", \"silence\": 0.5}]",
                "line 1, silence: 0.5 isn't a time in seconds from 1 to 31536000"
            ),
            (
                "[{\"name\": \"A\", \"when\": \"batteryLow\", \"tags\": \"*\"}]",
                "line 1, percent: a rule for batteries needs"
            ),
            (
                "[{\"name\": \"A\", \"when\": \"silent\", \"tags\": \"*\", \"silence\": 60},\n"
                    + "{\"name\": \"A\", \"when\": \"silent\", \"tags\": \"*\", \"silence\": 60}]",
                "line 2, name: rule 1 has the name 'A', too"
            ),
        ]
        for (text, expected) in cases {
            let found = problem(text) ?? "none"
            XCTAssertTrue(found.hasPrefix(expected), "\(text): \(found)")
        }
        XCTAssertEqual(
            problem(
                "[{\"name\": \"A\", \"when\": \"silent\", \"tags\": \"*\", \"silence\": 60}]", register: TagRegister()),
            "line 1, tags: a rule for silence needs a register (--tags), or keys of tags")
    }

    func testTagsThatLeaveTheRegisterAreReported() throws {
        let rules = try AlertRules(
            json: Array(#"[{"name": "A", "when": "enters", "tags": "Cart", "room": "Ward"}]"#.utf8),
            venue: AlertStage.venue, register: AlertStage.register)
        XCTAssertEqual(rules.unknownTags(in: AlertStage.register), [])
        let other = TagRegister([.init(key: .name("x"), name: "Chart")])
        XCTAssertEqual(
            rules.unknownTags(in: other), ["rule 'A', tags: the register has no tag 'Cart'; did you mean 'Chart'?"])
    }

    func testRulesOfTagsThatTheRegisterDoesNotHaveAreValidAndReported() throws {
        let rules = AlertRules(
            try rules(
                #"[{"name": "A", "when": "enters", "tags": ["Crat", "Lift *", "C3:00:00:12:AB:99"], "room": "Ward"}]"#))
        XCTAssertEqual(
            rules.unknownTags(in: AlertStage.register),
            [
                "rule 'A', tags: the register has no tag 'Crat'; did you mean 'Cart'?",
                "rule 'A', tags: no name in the register begins with 'Lift '",
            ])
        XCTAssertEqual(rules.unknownTags(in: TagRegister()), [])
    }

    func testTooManyRulesAreRefused() {
        let rule = { (number: Int) in #"{"name": "\#(number)", "when": "enters", "tags": "*", "room": "Ward"}"# }
        let list = (0...AlertRules.mostRules).map(rule).joined(separator: ",\n")
        XCTAssertEqual(problem("[\(list)]"), "line 201: a file has at most 200 rules")
    }
}
