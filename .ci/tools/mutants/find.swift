// Finds the places where Swift code can be broken on purpose: find FILE...
//
// Prints a line of JSON for each mutant: where it is, what is exchanged for what, and the code that is put in place of
// the bytes from `start` to `end`. In that code, the first `@` stands for the number of the mutant. Only such changes are
// made that nearly always compile. .ci/mutants compiles this program with the parser of the toolchain.

import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

struct Mutant: Encodable {
    let file: String
    let line: Int
    let kind: String
    let start, end: Int
    let before, after, code: String
}

/// Prints the mutants of a file.
final class MutantFinder: SyntaxVisitor {
    private let file: String
    private let source: [UInt8]
    private let lines: SourceLocationConverter
    /// The names of variables without an initial value, whose assignments the compiler demands.
    private var unset: Set<String> = []

    init(file: String, text: String) {
        self.file = file
        source = Array(text.utf8)
        let tree = Parser.parse(source: text)
        lines = SourceLocationConverter(fileName: file, tree: tree)
        super.init(viewMode: .sourceAccurate)
        walk(OperatorTable.standardOperators.foldAll(tree) { _ in })
    }

    private func range(_ node: some SyntaxProtocol) -> Range<Int> {
        node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
    }

    private func text(_ range: Range<Int>) -> String { String(decoding: source[range], as: UTF8.self) }

    private func report(
        _ kind: String, _ node: some SyntaxProtocol, _ place: Range<Int>, to after: String, as code: String
    ) {
        let line = lines.location(for: node.positionAfterSkippingLeadingTrivia).line
        let mutant = Mutant(
            file: file, line: line, kind: kind, start: place.lowerBound, end: place.upperBound,
            before: text(range(node)),
            after: after, code: code)
        if let data = try? JSONEncoder().encode(mutant) { print(String(decoding: data, as: UTF8.self)) }
    }

    /// Exchanges an expression for another one.
    private func exchange(_ kind: String, _ node: some SyntaxProtocol, for after: String) {
        let place = range(node)
        report(kind, node, place, to: after, as: "(mutant(@) ? \(after) : \(text(place)))")
    }

    /// Returns the text of a node with another text for a part of it.
    private func text(of node: some SyntaxProtocol, with part: some SyntaxProtocol, as other: String) -> String {
        let (whole, inner) = (range(node), range(part))
        return text(whole.lowerBound..<inner.lowerBound) + other + text(inner.upperBound..<whole.upperBound)
    }

    // MARK: - Operators

    private static let operators: [String: (kind: String, others: [String])] = [
        "<": ("comparison", ["<=", ">"]), "<=": ("comparison", ["<", ">="]), ">": ("comparison", [">=", "<"]),
        ">=": ("comparison", [">", "<="]), "==": ("comparison", ["!="]), "!=": ("comparison", ["=="]),
        "&&": ("logic", ["||"]), "||": ("logic", ["&&"]), "+": ("arithmetic", ["-"]), "-": ("arithmetic", ["+"]),
        "*": ("arithmetic", ["/"]), "/": ("arithmetic", ["*"]), "<<": ("arithmetic", [">>"]),
        ">>": ("arithmetic", ["<<"]), "&": ("arithmetic", ["|"]), "|": ("arithmetic", ["&"]),
    ]
    private static let assignments = ["+=": "-=", "-=": "+="]

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard let symbol = node.operator.as(BinaryOperatorExprSyntax.self)?.operator else { return .visitChildren }
        if let other = Self.assignments[symbol.text] {
            let after = text(of: node, with: symbol, as: other)
            report(
                "arithmetic", node, range(node), to: after,
                as: "if mutant(@) { \(after) } else { \(text(range(node))) }")
        }
        // A text or an array has a sum and no difference.
        let operands = [node.leftOperand, node.rightOperand]
        guard let (kind, others) = Self.operators[symbol.text],
            !operands.contains(where: { $0.is(StringLiteralExprSyntax.self) || $0.is(ArrayExprSyntax.self) })
        else {
            return .visitChildren
        }
        for other in others {
            // A number with a fraction is hardly ever equal to a limit.
            let isLimit = kind == "comparison" && other.first == symbol.text.first
            if isLimit, operands.contains(where: { $0.is(FloatLiteralExprSyntax.self) }) { continue }
            exchange(kind, node, for: text(of: node, with: symbol, as: other))
        }
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" { exchange("logic", node, for: text(range(node.expression))) }
        return .visitChildren
    }

    // MARK: - Constants

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        let digits = node.literal.text.filter { $0 != "_" }
        let radix = ["0x": 16, "0b": 2][digits.prefix(2)] ?? 10
        guard !isFixed(node), let value = UInt64(radix == 10 ? digits : String(digits.dropFirst(2)), radix: radix)
        else {
            return .skipChildren
        }
        // Half of a large number is another limit; a neighbour of a code is another code, of a mask another mask.
        let isMask = radix != 10 && value & (value &+ 1) == 0 && value > 0
        exchange("constant", node, for: "\(isMask ? value - 1 : radix == 10 && value > 16 ? value / 2 : value &+ 1)")
        return .skipChildren
    }

    override func visit(_ node: FloatLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        guard !isFixed(node), let value = Double(node.literal.text.filter { $0 != "_" }) else { return .skipChildren }
        exchange("constant", node, for: value == 0 ? "1.0" : "\(2 * value)")
        return .skipChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        // A capacity is kept for speed alone. A pattern has to stay, so that the switch stays exhaustive.
        let isCapacity = node.parent?.as(LabeledExprSyntax.self)?.label?.text == "keepingCapacity"
        guard !isFixed(node), !isCapacity, node.parent?.is(ExpressionPatternSyntax.self) != true else {
            return .skipChildren
        }
        exchange("constant", node, for: node.literal.text == "true" ? "false" : "true")
        return .skipChildren
    }

    /// Whether the grammar permits nothing but a literal.
    private func isFixed(_ node: some ExprSyntaxProtocol) -> Bool {
        node.parent?.parent?.is(EnumCaseElementSyntax.self) == true
            || node.parent?.is(GenericArgumentSyntax.self) == true
    }

    // MARK: - Branches

    override func visit(_ node: IfExprSyntax) -> SyntaxVisitorContinueKind { branch(node.conditions, of: "if") }
    override func visit(_ node: GuardStmtSyntax) -> SyntaxVisitorContinueKind { branch(node.conditions, of: "guard") }
    override func visit(_ node: WhileStmtSyntax) -> SyntaxVisitorContinueKind { branch(node.conditions, of: "while") }

    /// Makes a list of conditions false, and each condition true.
    private func branch(_ conditions: ConditionElementListSyntax, of keyword: String) -> SyntaxVisitorContinueKind {
        let start = range(conditions).lowerBound
        report("branch", conditions, start..<start, to: "\(keyword) false", as: "!mutant(@), ")
        for element in conditions where keyword != "while" {
            guard case .expression(let condition) = element.condition else { continue }
            exchange("branch", withoutEffects(condition), for: "true")
        }
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        exchange("branch", node.condition, for: "false")
        exchange("branch", node.condition, for: "true")
        return .visitChildren
    }

    /// The expression behind `try` and `await`, which can't stand within an operator.
    private func withoutEffects(_ expression: ExprSyntax) -> ExprSyntax {
        if let inner = expression.as(TryExprSyntax.self), inner.questionOrExclamationMark == nil {
            return withoutEffects(inner.expression)
        }
        return expression.as(AwaitExprSyntax.self).map { withoutEffects($0.expression) } ?? expression
    }

    // MARK: - Calls and statements

    /// Calls that no test can notice, because they don't change what the program does, or end it.
    private static let ignored: Set<String> = [
        "precondition", "preconditionFailure", "assert", "assertionFailure", "fatalError", "reserveCapacity",
    ]
    private static let opposites = ["min": "max", "max": "min"]

    private func name(of call: FunctionCallExprSyntax) -> String? {
        let member = call.calledExpression.as(MemberAccessExprSyntax.self)
        return (member?.declName ?? call.calledExpression.as(DeclReferenceExprSyntax.self))?.baseName.text
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        guard let name = name(of: node) else { return .visitChildren }
        if node.calledExpression.is(DeclReferenceExprSyntax.self), let opposite = Self.opposites[name] {
            exchange("arithmetic", node, for: text(of: node, with: node.calledExpression, as: opposite))
        }
        return Self.ignored.contains(name) ? .skipChildren : .visitChildren
    }

    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        if node.initializer == nil { unset.insert(node.pattern.trimmedDescription) }
        return .visitChildren
    }

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        let item = Syntax(node.item)
        guard let expression = item.as(ExpressionStmtSyntax.self)?.expression ?? item.as(ExprSyntax.self),
            !isValue(node),
            isStatement(withoutEffects(expression))
        else {
            return .visitChildren
        }
        report("statement", node, range(node), to: "nothing", as: "if !mutant(@) { \(text(range(node))) }")
        return .visitChildren
    }

    /// Whether a statement stands alone where its value may be the result.
    private func isValue(_ node: CodeBlockItemSyntax) -> Bool {
        guard let list = node.parent?.as(CodeBlockItemListSyntax.self), list.count == 1, let parent = list.parent else {
            return false
        }
        if let function = parent.parent?.as(FunctionDeclSyntax.self) { return function.signature.returnClause != nil }
        return parent.is(ClosureExprSyntax.self) || parent.is(AccessorBlockSyntax.self)
    }

    /// Whether an expression is a call or an assignment that the compiler doesn't demand.
    private func isStatement(_ expression: ExprSyntax) -> Bool {
        if let call = expression.as(FunctionCallExprSyntax.self) {
            // A member without a base is a value.
            if let member = call.calledExpression.as(MemberAccessExprSyntax.self), member.base == nil { return false }
            return name(of: call).map { !Self.ignored.contains($0) } ?? false
        }
        guard let infix = expression.as(InfixOperatorExprSyntax.self), infix.operator.is(AssignmentExprSyntax.self)
        else {
            return false
        }
        var parent = expression.parent
        while let current = parent, !current.is(FunctionDeclSyntax.self) {
            if current.is(InitializerDeclSyntax.self) { return false }
            parent = current.parent
        }
        let left = infix.leftOperand
        return !left.is(DiscardAssignmentExprSyntax.self) && !left.is(TupleExprSyntax.self)
            && !unset.contains(left.trimmedDescription)
    }

    // MARK: - What stays as it is

    override func visit(_: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

for file in CommandLine.arguments.dropFirst() {
    _ = MutantFinder(file: file, text: try String(contentsOfFile: file, encoding: .utf8))
}
